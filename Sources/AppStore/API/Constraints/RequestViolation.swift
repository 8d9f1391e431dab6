// Violations that are detected before a request is sent. An invalid request then uses no rate limit, and the message is
// more precise than Apple's.

/// A documented constraint that a request violates.
///
/// It names the rule, the field, the problem and Apple's page. Identifiers and account data are never repeated, only
/// their shape, because errors end up in logs.
public struct RequestViolation: Error, Sendable, Hashable, CustomStringConvertible {
  /// The constraint.
  public let rule: RequestRule
  /// The field, path parameter or query parameter, in Apple's spelling.
  public let field: String
  /// A description of the invalid value, or `absent`.
  public let found: String
  /// The last path component of Apple's documentation page for the constraint.
  public let topic: String
  private let collection: String

  /// - Parameter collection: The API in the URL of the page.
  init(
    _ rule: RequestRule, _ field: String, found: String, topic: String? = nil,
    of collection: String = "appstoreserverapi"
  ) {
    self.rule = rule
    self.field = field
    self.found = found
    self.topic = topic ?? field
    self.collection = collection
  }

  /// The URL of Apple's documentation page for the constraint.
  public var page: String { "https://developer.apple.com/documentation/\(collection)/\(topic.lowercased())" }

  /// The field, the rule, the problem and the URL of Apple's page.
  public var description: String { "\(field): \(rule.rawValue); \(found) (\(page))" }
}

/// A constraint from Apple's documentation. The raw value states it in words.
public enum RequestRule: String, Sendable, Hashable, CaseIterable {
  /// A required field is absent.
  case required = "is required"
  /// The JSON type of a field is not the documented one.
  case documentedType = "must be of the documented type"
  /// A value is not in Apple's list.
  case documentedValue = "must be one of the documented values"
  /// An extension is too short or too long.
  case extendByDaysRange = "must be from 1 to 90 days"
  /// A request identifier is empty or too long.
  case requestIdentifierLength = "must have from 1 to 128 characters"
  /// The request identifier of a mass extension, or an account token, is not a UUID.
  case uuid = "must be a UUID"
  /// A version 1 account token is neither a UUID nor empty.
  case uuidOrEmpty = "must be a UUID, or empty if there is none"
  /// A list of storefronts is empty.
  case storefrontsNotEmpty = "must name at least one storefront; omit it for all"
  /// A storefront code is not three letters.
  case storefrontAlpha3 = "must be a country code of three capital letters (ISO 3166-1 alpha-3)"
  /// The customer has not consented.
  case consent = "must be true: do not send anything without the customer's consent"
  /// A consumption percentage is out of range.
  case consumptionPercentageRange = "must be from 0 to 100000 milliunits"
  /// A consumption percentage is given for a subscription, for which Apple determines it.
  case consumptionPercentageOfSubscription = "must be omitted for an auto-renewable subscription"
  /// A consumption percentage is given for an undelivered purchase.
  case consumptionPercentageUndelivered = "must be 0 when deliveryStatus is not DELIVERED"
  /// A prorated refund is preferred without a matching percentage.
  case consumptionPercentageProrated = "must be more than 0 and less than 100000 with GRANT_PRORATED"
  /// A time range is empty or reversed.
  case endAfterStart = "must be later than startDate"
  /// The start is before the period that the App Store keeps.
  case notificationWindow = "must be within the past 180 days, or 30 days in the sandbox"
  /// The type never has this subtype.
  case subtypeOfType = "must be a subtype of the notificationType"
  /// Two filters are given, but Apple accepts only one.
  case oneFilter = "must not be combined with transactionId"
  /// An identifier is empty, would change the path, or is longer than 1,024 bytes.
  case identifier =
    "must have 1 to 1024 bytes, must not be . or .., and must not contain a slash, a backslash or a control character"
  /// A path segment is empty or would change the path.
  case pathSegment = "must not be empty, . or .., and must not contain a slash, a backslash or a control character"
  /// A required value is empty.
  case notEmpty = "must not be empty"
  /// A description for customers is too long.
  case descriptionLength = "must have at most 45 characters"
  /// A name for customers is too long.
  case displayNameLength = "must have at most 30 characters"
  /// An identifier of an item is too long.
  case skuLength = "must have at most 128 characters"
  /// An offer has no periods, or too many.
  case periodCountRange = "must be from 1 to 12 periods"
}
