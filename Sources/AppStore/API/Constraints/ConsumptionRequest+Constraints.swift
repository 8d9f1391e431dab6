// What Apple demands of an answer to a CONSUMPTION_REQUEST.

extension ConsumptionRequest {
  /// The documented constraints that this request does not keep; empty when it may be sent.
  ///
  /// Apple's pages differ on whether `GRANT_PRORATED` needs a percentage (`consumptionPercentage`) or may have one
  /// (`refundPreference`); here it does, once the product is known not to be an auto-renewable subscription. The same
  /// holds for the 0 of what was not delivered: always writing it is right by every page.
  ///
  /// - Parameter productType: the `type` of the transaction; nil when it is not known, and then the rules that hang on
  ///   it are not checked.
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
  /// The documented constraints that this request does not keep; empty when it may be sent. Every field but the
  /// refund preference, which is younger than the rest, is demanded.
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
