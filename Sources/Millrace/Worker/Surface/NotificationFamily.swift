// What a worker subscribes to: families are topics, so that lag, scaling, retention and access are separate.

/// A family of notifications: one topic, `appstore.notifications.<family>`.
public struct NotificationFamily: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The last part of the topic's name.
  public let rawValue: String

  /// The family's topic, without the deployment's prefix.
  public let topic: String

  /// Any family, a deployment's own included.
  public init(rawValue: String) {
    self.rawValue = rawValue
    topic = "appstore.notifications.\(rawValue)"
  }

  private init(rawValue: String, topic: String) {
    self.rawValue = rawValue
    self.topic = topic
  }

  /// Auto-renewable subscriptions: bought, renewed, changed, ended.
  public static let subscriptions = NotificationFamily(rawValue: "subscriptions")
  /// Consumables, non-consumables and non-renewing subscriptions.
  public static let purchases = NotificationFamily(rawValue: "purchases")
  /// Money given back, asked for or declined, and access that ended with it.
  public static let refunds = NotificationFamily(rawValue: "refunds")
  /// What became of extending renewal dates.
  public static let renewalExtensions = NotificationFamily(rawValue: "renewal-extensions")
  /// Apple asks what was consumed.
  public static let consumptionRequests = NotificationFamily(rawValue: "consumption-requests")
  /// Tokens for purchases outside the App Store.
  public static let externalPurchases = NotificationFamily(rawValue: "external-purchases")
  /// Changes made through the Advanced Commerce API.
  public static let advancedCommerce = NotificationFamily(rawValue: "advanced-commerce")
  /// Consent withdrawn by a parent.
  public static let consent = NotificationFamily(rawValue: "consent")
  /// Tests that a developer requested.
  public static let tests = NotificationFamily(rawValue: "tests")
  /// Types that no topic file names.
  public static let unrecognized = NotificationFamily(rawValue: "unrecognized")

  /// Not notifications but what they should have told: transactions that Apple returned when it was asked for refunds.
  /// They arrive as ``NotificationEvent/foundRefund``.
  public static let foundRefunds = NotificationFamily(
    rawValue: "found-refunds", topic: "appstore.transactions.refunds")

  /// Every family of notifications that Millrace ships a topic for.
  public static let all: Set<NotificationFamily> = [
    .subscriptions, .purchases, .refunds, .renewalExtensions, .consumptionRequests, .externalPurchases,
    .advancedCommerce, .consent, .tests, .unrecognized,
  ]

  /// The last part of the topic's name.
  public var description: String { rawValue }
}
