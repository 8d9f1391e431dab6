// Apple's constraints on requests for past notifications, transactions and subscription statuses.

extension NotificationHistoryRequest {
  /// Returns the documented constraints that this request violates; empty if it can be sent.
  ///
  /// - Parameters:
  ///   - environment: the environment. The sandbox keeps notifications for 30 days, production for 180.
  ///   - now: the current time. Apple may reject a request that is exactly at the edge of the window when it arrives.
  public func violations(in environment: AppStoreEnvironment, now: Timestamp) -> [RequestViolation] {
    var violations = violations(required: ["startDate", "endDate"], topic: "NotificationHistoryRequest")
    if let startDate, let endDate, endDate <= startDate {
      violations.append(RequestViolation(.endAfterStart, "endDate", found: "found \(startDate - endDate) before it"))
    }
    if let startDate, startDate < now - Self.window(of: environment) {
      let days = (now - startDate).components.seconds / 86_400
      violations.append(RequestViolation(.notificationWindow, "startDate", found: "found \(days) days ago"))
    }
    return violations + filterViolations
  }

  /// Returns how long the App Store keeps notifications: 180 days in production, 30 days in the sandbox.
  public static func window(of environment: AppStoreEnvironment) -> Duration {
    .seconds((environment == .production ? 180 : 30) * 86_400)
  }

  private var filterViolations: [RequestViolation] {
    var violations = [undocumented("notificationType", \.notificationType)].compactMap { $0 }
    if transactionId != nil, notificationType != nil {
      violations.append(
        RequestViolation(.oneFilter, "notificationType", found: "both found", topic: "MultipleFiltersSuppliedError"))
    }
    if let transactionId { violations += RequestParameter.transactionId.violations(in: transactionId) }
    // Apple accepts a subtype without a type. It then selects every type that has the subtype.
    guard let notificationType else {
      return violations + [undocumented("notificationSubtype", \.notificationSubtype)].compactMap { $0 }
    }
    if let notificationSubtype, notificationType.isKnown, !notificationType.subtypes.contains(notificationSubtype) {
      violations.append(
        RequestViolation(
          .subtypeOfType, "notificationSubtype",
          found: "found \(shown("\(notificationSubtype)")) with \(notificationType)"))
    }
    return violations
  }
}

extension TransactionHistoryRequest {
  /// Returns the documented constraints that this query violates; empty if it can be sent.
  public func violations() -> [RequestViolation] {
    let topic = "Get-Transaction-History"
    var violations: [RequestViolation] = []
    if let startDate, let endDate, endDate <= startDate {
      violations.append(
        RequestViolation(.endAfterStart, "endDate", found: "found \(startDate - endDate) before it", topic: topic))
    }
    func check(_ field: String, _ values: [some OpenEnum]) {
      violations += values.filter { !$0.isKnown }.map {
        RequestViolation(.documentedValue, field, found: "found \(shown("\($0)"))", topic: topic)
      }
    }
    check("productType", productTypes)
    check("sort", [sort].compactMap { $0 })
    check("inAppOwnershipType", [inAppOwnershipType].compactMap { $0 })
    for (field, values) in [("productId", productIds), ("subscriptionGroupIdentifier", subscriptionGroupIdentifiers)]
    where values.contains("") {
      violations.append(RequestViolation(.notEmpty, field, found: "found an empty string", topic: topic))
    }
    return violations
  }
}

extension SubscriptionStatusesRequest {
  /// Returns the documented constraints that this query violates; empty if it can be sent.
  public func violations() -> [RequestViolation] {
    statuses.filter { !$0.isKnown }.map { RequestViolation(.documentedValue, "status", found: "found \($0)") }
  }
}
