// The constraints on history requests, and on values in a URL.

import AppStore

extension RequestViolationTests {
  static let now = Timestamp(millisecondsSince1970: 1_760_000_000_000)

  static func notifications(
    from days: Int64 = 10, until end: Int64 = 0, _ environment: AppStoreEnvironment = .production,
    _ change: (inout NotificationHistoryRequest) -> Void = { _ in }
  ) -> [RequestViolation] {
    var request = NotificationHistoryRequest(
      startDate: now - .seconds(days * 86_400), endDate: now - .seconds(end * 86_400))
    change(&request)
    return request.violations(in: environment, now: now)
  }

  static let notificationHistory = [
    ConstraintCase("ten days", notifications()),
    ConstraintCase("the whole window", notifications(from: 180)),
    ConstraintCase("before the window", notifications(from: 181), breaks: ("startDate", .notificationWindow)),
    ConstraintCase("the sandbox's window", notifications(from: 30, .sandbox)),
    ConstraintCase(
      "before the sandbox's window", notifications(from: 31, .sandbox), breaks: ("startDate", .notificationWindow)),
    ConstraintCase("no time at all", notifications(from: 3, until: 3), breaks: ("endDate", .endAfterStart)),
    ConstraintCase("backwards", notifications(from: 3, until: 4), breaks: ("endDate", .endAfterStart)),
    ConstraintCase("one type", notifications { $0.notificationType = .refund }),
    ConstraintCase(
      "a type that nobody knows", notifications { $0.notificationType = NotificationTypeV2(rawValue: "REFUNDED") },
      breaks: ("notificationType", .documentedValue)),
    ConstraintCase(
      "a pair",
      notifications {
        $0.notificationType = .renewalExtension
        $0.notificationSubtype = .failure
      }),
    ConstraintCase(
      "a pair that is none",
      notifications {
        $0.notificationType = .refund
        $0.notificationSubtype = .failure
      }, breaks: ("notificationSubtype", .subtypeOfType)),
    ConstraintCase("a subtype alone", notifications { $0.notificationSubtype = .failure }),
    ConstraintCase(
      "a subtype that nobody knows", notifications { $0.notificationSubtype = Subtype(rawValue: "FAILED") },
      breaks: ("notificationSubtype", .documentedValue)),
    ConstraintCase(
      "failures of one customer",
      notifications {
        $0.transactionId = "400001"
        $0.onlyFailures = true
      }),
    ConstraintCase(
      "one type of one customer",
      notifications {
        $0.transactionId = "400001"
        $0.notificationType = .refund
      }, breaks: ("notificationType", .oneFilter)),
    ConstraintCase(
      "no such customer", notifications { $0.transactionId = "" }, breaks: ("transactionId", .identifier)),
    ConstraintCase(
      "no dates", NotificationHistoryRequest().violations(in: .production, now: now), breaks: ("startDate", .required),
      ("endDate", .required)),
  ]

  static let queries = [
    ConstraintCase("a whole history", TransactionHistoryRequest().violations()),
    ConstraintCase(
      "one moment", TransactionHistoryRequest(startDate: now, endDate: now).violations(),
      breaks: ("endDate", .endAfterStart)),
    ConstraintCase(
      "one millisecond", TransactionHistoryRequest(startDate: now, endDate: now + .milliseconds(1)).violations()),
    ConstraintCase(
      "backwards", TransactionHistoryRequest(startDate: now, endDate: now - .milliseconds(1)).violations(),
      breaks: ("endDate", .endAfterStart)),
    ConstraintCase(
      "unknown filters",
      TransactionHistoryRequest(
        productIds: ["a", ""], productTypes: [.consumable, .init(rawValue: "Consumable")],
        sort: .init(rawValue: "UP"), inAppOwnershipType: .init(rawValue: "STOLEN")
      ).violations(),
      breaks: ("productType", .documentedValue), ("sort", .documentedValue), ("inAppOwnershipType", .documentedValue),
      ("productId", .notEmpty)),
    ConstraintCase(
      "a status that is none", SubscriptionStatusesRequest(statuses: [.active, Status(rawValue: 6)]).violations(),
      breaks: ("status", .documentedValue)),
    ConstraintCase("every status", SubscriptionStatusesRequest(statuses: Status.allKnown).violations()),
  ]

  static let parameters = [
    ConstraintCase("digits", RequestParameter.transactionId.violations(in: "2000000123456789")),
    ConstraintCase("any string", RequestParameter.transactionId.violations(in: "GPA.1234-%2f?#+ ü")),
    ConstraintCase("1,024 bytes", RequestParameter.transactionId.violations(in: String(repeating: "1", count: 1_024))),
    ConstraintCase(
      "1,025 bytes", RequestParameter.transactionId.violations(in: String(repeating: "1", count: 1_025)),
      breaks: ("transactionId", .identifier)),
    ConstraintCase(
      "10 kB", RequestParameter.anyTransactionId.violations(in: String(repeating: "1", count: 10_000)),
      breaks: ("anyTransactionId", .identifier)),
    ConstraintCase(
      "no transaction", RequestParameter.transactionId.violations(in: ""), breaks: ("transactionId", .identifier)),
    ConstraintCase(
      "the parent of a transaction", RequestParameter.transactionId.violations(in: "../"),
      breaks: ("transactionId", .identifier)),
    ConstraintCase(
      "a path in a transaction", RequestParameter.anyTransactionId.violations(in: "1/../2"),
      breaks: ("anyTransactionId", .identifier)),
    ConstraintCase(
      "digits of another script", RequestParameter.originalTransactionId.violations(in: "٤٠٠")),
    ConstraintCase("an order", RequestParameter.orderId.violations(in: "MK5TTTVWJH")),
    ConstraintCase(
      "an order that climbs", RequestParameter.orderId.violations(in: ".."), breaks: ("orderId", .pathSegment)),
    ConstraintCase("no order", RequestParameter.orderId.violations(in: ""), breaks: ("orderId", .pathSegment)),
    ConstraintCase("a product", RequestParameter.productId.violations(in: "com.example.münze")),
    ConstraintCase(
      "a product with a slash", RequestParameter.productId.violations(in: "a/b"), breaks: ("productId", .pathSegment)),
    ConstraintCase(
      "a token with a line break", RequestParameter.testNotificationToken.violations(in: "a\r\nb"),
      breaks: ("testNotificationToken", .pathSegment)),
    ConstraintCase(
      "a token as Apple's", RequestParameter.testNotificationToken.violations(in: "\(uuid)_1656711609000")),
    ConstraintCase("a UUID", RequestParameter.requestIdentifier.violations(in: uuid)),
    ConstraintCase(
      "no UUID", RequestParameter.requestIdentifier.violations(in: "7"), breaks: ("requestIdentifier", .uuid)),
    ConstraintCase("a revision", RequestParameter.revision.violations(in: "a+/=")),
    ConstraintCase("no revision", RequestParameter.revision.violations(in: ""), breaks: ("revision", .notEmpty)),
    ConstraintCase(
      "no pagination token", RequestParameter.paginationToken.violations(in: ""),
      breaks: ("paginationToken", .notEmpty)),
  ]
}
