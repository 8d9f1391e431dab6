// Notification families. Each family is a topic, so that lag, scaling, retention and access are separate.

internal import MillraceCore

/// A group of related notification types that share the topic `appstore.notifications.<family>`.
public struct NotificationFamily: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The family's name, which is the last part of the topic's name.
  public let rawValue: String

  /// The family's topic, without the deployment's prefix.
  public let topic: String

  /// Creates a family with any name. A deployment can add its own families.
  public init(rawValue: String) {
    self.rawValue = rawValue
    topic = "appstore.notifications.\(rawValue)"
  }

  private init(rawValue: String, topic: String) {
    self.rawValue = rawValue
    self.topic = topic
  }

  /// Auto-renewable subscriptions: purchases, renewals, changes and expirations.
  public static let subscriptions = NotificationFamily(rawValue: "subscriptions")
  /// Consumables, non-consumables and non-renewing subscriptions.
  public static let purchases = NotificationFamily(rawValue: "purchases")
  /// Refunds, declined and reversed refunds, and revoked access.
  public static let refunds = NotificationFamily(rawValue: "refunds")
  /// Results of renewal-date extensions.
  public static let renewalExtensions = NotificationFamily(rawValue: "renewal-extensions")
  /// Apple's requests for consumption information.
  public static let consumptionRequests = NotificationFamily(rawValue: "consumption-requests")
  /// Tokens for purchases outside the App Store.
  public static let externalPurchases = NotificationFamily(rawValue: "external-purchases")
  /// Changes made through the Advanced Commerce API.
  public static let advancedCommerce = NotificationFamily(rawValue: "advanced-commerce")
  /// Consent that a parent withdrew.
  public static let consent = NotificationFamily(rawValue: "consent")
  /// Test notifications that a developer requested.
  public static let tests = NotificationFamily(rawValue: "tests")
  /// Notification types that no topic file lists.
  public static let unrecognized = NotificationFamily(rawValue: "unrecognized")

  /// Refunded transactions that were found by querying the API, for notifications that did not arrive. Handlers receive
  /// them as ``NotificationEvent/foundRefund``.
  public static let foundRefunds = NotificationFamily(
    rawValue: "found-refunds", topic: "appstore.transactions.refunds")

  /// Requests to ask Apple about purchases of customers from before Millrace. Handlers receive them as
  /// ``NotificationEvent/importRequest``.
  package static let subscriptionImports = NotificationFamily(
    rawValue: "subscription-imports", topic: "millrace.subscription-imports")

  /// All notification families that Millrace ships a topic for.
  public static let all = Set(KnownNames.families.map(NotificationFamily.init(rawValue:)))

  /// The family's name.
  public var description: String { rawValue }
}
