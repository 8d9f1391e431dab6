// Apple's constraints on the identifiers and tokens in a URL.

/// A path or query parameter of the App Store Server API. The raw value is Apple's name for it.
public enum RequestParameter: String, Sendable, Hashable, CaseIterable {
  /// A transaction or an original transaction.
  case transactionId
  /// The first transaction of a subscription, or of any other purchase.
  case originalTransactionId
  /// Any transaction of a customer, or the customer's app transaction.
  case anyTransactionId
  /// An order identifier from a customer's receipt.
  case orderId
  /// A product of the app.
  case productId
  /// The identifier of a mass extension: a UUID.
  case requestIdentifier
  /// The token from the response to Request a Test Notification.
  case testNotificationToken
  /// The position at which a history of transactions or refunds continues.
  case revision
  /// The position at which a notification history continues.
  case paginationToken

  /// The largest size of an identifier in a path, in bytes. Servers refuse longer request lines.
  private static let longestIdentifier = 1_024

  /// Returns the violations in a value of this parameter; empty if it can be sent.
  public func violations(in value: String) -> [RequestViolation] {
    let rule: RequestRule
    let holds: Bool
    switch self {
    case .requestIdentifier: (rule, holds) = (.uuid, value.isUUID)
    // Apple documents any string. The client encodes it as one segment of the path.
    case .transactionId, .originalTransactionId, .anyTransactionId:
      (rule, holds) = (.identifier, value.isPathSegment && value.utf8.count <= Self.longestIdentifier)
    case .orderId, .productId, .testNotificationToken: (rule, holds) = (.pathSegment, value.isPathSegment)
    case .revision, .paginationToken: (rule, holds) = (.notEmpty, !value.isEmpty)
    }
    guard !holds else { return [] }
    let topic = self == .anyTransactionId ? "transactionId" : rawValue
    return [RequestViolation(rule, rawValue, found: shape(of: value), topic: topic)]
  }
}
