// A request that Apple would refuse, found out before it is sent: a budget is not spent on it, and the message says more.

/// One documented constraint that a request does not keep.
///
/// It names the rule, the field, what was found and Apple's page. Values of identifiers and accounts are not repeated,
/// only their shape: errors end in logs.
public struct RequestViolation: Error, Sendable, Hashable, CustomStringConvertible {
  /// The constraint.
  public let rule: RequestRule
  /// The field, path parameter or query parameter, spelled as Apple spells it.
  public let field: String
  /// What stands there, or what is missing.
  public let found: String
  /// The page of Apple's documentation that states the constraint, by its last path component.
  public let topic: String

  init(_ rule: RequestRule, _ field: String, found: String, topic: String? = nil) {
    self.rule = rule
    self.field = field
    self.found = found
    self.topic = topic ?? field
  }

  /// The page of Apple's documentation that states the constraint.
  public var page: String { "https://developer.apple.com/documentation/appstoreserverapi/\(topic.lowercased())" }

  /// The field, the rule, what was found and where to read more.
  public var description: String { "\(field): \(rule.rawValue); \(found) (\(page))" }
}

/// A constraint of Apple's documentation. The raw value says it in words.
public enum RequestRule: String, Sendable, Hashable, CaseIterable {
  /// A field that Apple demands is absent.
  case required = "must be given"
  /// A field of another JSON type than the documented one.
  case documentedType = "must be of the documented type"
  /// A value outside Apple's list.
  case documentedValue = "must be one of the documented values"
  /// An extension that is too short or too long.
  case extendByDaysRange = "must be from 1 to 90 days"
  /// A request identifier that is empty or too long.
  case requestIdentifierLength = "must have from 1 to 128 characters"
  /// A request identifier of a mass extension, or an account token, that is not a UUID.
  case uuid = "must be a UUID"
  /// An account token of version 1 that is neither of the two.
  case uuidOrEmpty = "must be a UUID, or empty when it is not told"
  /// A list of storefronts without a storefront.
  case storefrontsNotEmpty = "must name at least one storefront, or be left out for all"
  /// A storefront that is not three letters.
  case storefrontAlpha3 = "must be a country code of three capital letters (ISO 3166-1 alpha-3)"
  /// Consumption without the customer's consent.
  case consent = "must be true: without the customer's consent nothing may be sent"
  /// A consumption percentage out of range.
  case consumptionPercentageRange = "must be from 0 to 100000 milliunits"
  /// A consumption percentage for a subscription, where Apple counts for itself.
  case consumptionPercentageOfSubscription = "must be left out for an auto-renewable subscription"
  /// A consumption percentage of what was not delivered.
  case consumptionPercentageUndelivered = "must be 0 when deliveryStatus is not DELIVERED"
  /// A wish for a part of the price without the part.
  case consumptionPercentageProrated = "must be more than 0 and less than 100000 with GRANT_PRORATED"
  /// A span of time that is empty or runs backwards.
  case endAfterStart = "must be later than startDate"
  /// A query that ends before it starts.
  case endNotBeforeStart = "must not be earlier than startDate"
  /// A start before what the App Store keeps.
  case notificationWindow = "must lie within the past 180 days, in the sandbox 30 days"
  /// A subtype that its type never has.
  case subtypeOfType = "must be a subtype of the notificationType"
  /// Two filters of which Apple takes one.
  case oneFilter = "must not come together with transactionId"
  /// An identifier that is not digits.
  case digits = "must be one or more digits"
  /// A part of the path that is empty or would lead elsewhere.
  case pathSegment = "must not be empty, nor hold a slash, a backslash or a control character, nor be . or .."
  /// An empty value where a value is needed.
  case notEmpty = "must not be empty"
}
