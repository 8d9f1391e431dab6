// Apple's constraints on the response to a CONSUMPTION_REQUEST.

extension ConsumptionRequest {
  /// Returns the documented constraints that this request violates; empty if it can be sent.
  ///
  /// Apple's pages disagree on whether `GRANT_PRORATED` requires a percentage (`consumptionPercentage`) or only allows
  /// one (`refundPreference`). Here it is required once the product is known not to be an auto-renewable subscription.
  /// The same holds for the percentage 0 of an undelivered purchase: stating it is correct according to every page.
  ///
  /// - Parameter productType: the `type` of the transaction; nil if unknown. The rules that depend on it are then not
  ///   checked.
  public func violations(productType: ProductType?) -> [RequestViolation] {
    var violations = violations(
      required: ["customerConsented", "deliveryStatus", "sampleContentProvided"], topic: "ConsumptionRequest")
    if customerConsented == false {
      violations.append(RequestViolation(.consent, "customerConsented", found: "found false"))
    }
    violations += [
      undocumented("deliveryStatus", \.deliveryStatus), undocumented("refundPreference", \.refundPreference),
    ].compactMap { $0 }
    return violations + percentageViolations(productType)
  }

  private func percentageViolations(_ productType: ProductType?) -> [RequestViolation] {
    let field = "consumptionPercentage"
    guard json[field] == nil || consumptionPercentage != nil else { return [] }
    if productType == .autoRenewableSubscription {
      return consumptionPercentage.map {
        [RequestViolation(.consumptionPercentageOfSubscription, field, found: "found \($0)")]
      } ?? []
    }
    guard let percentage = consumptionPercentage else {
      guard productType != nil else { return [] }
      if deliveryStatus != nil, deliveryStatus != .delivered {
        return [RequestViolation(.consumptionPercentageUndelivered, field, found: "absent")]
      }
      return refundPreference == .grantProrated
        ? [RequestViolation(.consumptionPercentageProrated, field, found: "absent")] : []
    }
    guard (0...100_000).contains(percentage) else {
      return [RequestViolation(.consumptionPercentageRange, field, found: "found \(percentage)")]
    }
    var violations: [RequestViolation] = []
    if percentage != 0, deliveryStatus != nil, deliveryStatus != .delivered {
      violations.append(RequestViolation(.consumptionPercentageUndelivered, field, found: "found \(percentage)"))
    }
    if refundPreference == .grantProrated, percentage == 0 || percentage == 100_000 {
      violations.append(RequestViolation(.consumptionPercentageProrated, field, found: "found \(percentage)"))
    }
    return violations
  }
}

extension ConsumptionRequestV1 {
  /// Returns the documented constraints that this request violates; empty if it can be sent. Every field is required
  /// except the refund preference, which Apple added later.
  public func violations() -> [RequestViolation] {
    let topic = "ConsumptionRequestV1"
    var violations = violations(
      required: Self.documentedFields.map(\.name).filter { $0 != "refundPreference" }, topic: topic)
    if customerConsented == false {
      violations.append(RequestViolation(.consent, "customerConsented", found: "found false"))
    }
    if let appAccountToken, !appAccountToken.isEmpty, !appAccountToken.isUUID {
      violations.append(
        RequestViolation(.uuidOrEmpty, "appAccountToken", found: shape(of: appAccountToken), topic: topic))
    }
    return violations
      + [
        undocumented("consumptionStatus", \.consumptionStatus), undocumented("platform", \.platform),
        undocumented("deliveryStatus", \.deliveryStatus, topic: "deliveryStatusV1"),
        undocumented("accountTenure", \.accountTenure), undocumented("playTime", \.playTime),
        undocumented("lifetimeDollarsRefunded", \.lifetimeDollarsRefunded),
        undocumented("lifetimeDollarsPurchased", \.lifetimeDollarsPurchased),
        undocumented("userStatus", \.userStatus),
        undocumented("refundPreference", \.refundPreference, topic: "refundPreferenceV1"),
      ].compactMap { $0 }
  }
}
