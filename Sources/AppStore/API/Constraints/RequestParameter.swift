// What Apple demands of the identifiers and tokens that stand in a URL.

/// A parameter of a path or a query of the App Store Server API. The raw value is Apple's name of it.
public enum RequestParameter: String, Sendable, Hashable, CaseIterable {
  /// A transaction, or its original transaction.
  case transactionId
  /// The transaction that began a subscription, or any purchase.
  case originalTransactionId
  /// Any transaction of a customer, or the customer's app transaction.
  case anyTransactionId
  /// An order of a customer's receipt.
  case orderId
  /// A product of the app.
  case productId
  /// The identifier of a mass extension: a UUID.
  case requestIdentifier
  /// What Request a Test Notification answered.
  case testNotificationToken
  /// Where a history of transactions or refunds continues.
  case revision
  /// Where a history of notifications continues.
  case paginationToken

  /// What is wrong with a value of this parameter; empty when it may be sent.
  public func violations(in value: String) -> [RequestViolation] {
    let rule: RequestRule
    let holds: Bool
    switch self {
    case .transactionId, .originalTransactionId, .anyTransactionId: (rule, holds) = (.digits, value.isDigits)
    case .requestIdentifier: (rule, holds) = (.uuid, value.isUUID)
    case .orderId, .productId, .testNotificationToken: (rule, holds) = (.pathSegment, value.isPathSegment)
    case .revision, .paginationToken: (rule, holds) = (.notEmpty, !value.isEmpty)
    }
    guard !holds else { return [] }
    let topic = self == .anyTransactionId ? "transactionId" : rawValue
    return [RequestViolation(rule, rawValue, found: shape(of: value), topic: topic)]
  }
}
