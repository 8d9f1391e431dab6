// The bodies of the two extension endpoints.

internal import AppStore

/// What both bodies say.
struct ExtensionTerms: Sendable, Hashable {
  let days: Int
  let requestIdentifier: String

  /// - Throws: Apple's error for the first member that is wrong.
  init(_ body: JSONObject) throws(APIFailure) {
    let request = ExtendRenewalDateRequest(json: body)
    try APIFailure.check(request.violations(), Self.failures)
    guard let days = request.extendByDays, let identifier = request.requestIdentifier else { throw .badRequest }
    self.init(days: days, requestIdentifier: identifier)
  }

  fileprivate init(days: Int, requestIdentifier: String) {
    self.days = days
    self.requestIdentifier = requestIdentifier
  }

  /// A missing `extendReasonCode` is an internal error, which is what callers have met.
  fileprivate static let failures: [FieldFailure] = [
    FieldFailure("extendByDays", .invalidExtendByDays),
    FieldFailure("extendReasonCode", .invalidExtendReasonCode, [.required: .generalInternal]),
    FieldFailure("requestIdentifier", .invalidRequestIdentifier),
  ]
}

/// The body of Extend Subscription Renewal Dates for All Active Subscribers.
struct MassExtensionRequest: Sendable, Hashable {
  let terms: ExtensionTerms
  let productId: String
  /// nil: every storefront.
  let storefronts: [String]?

  /// - Throws: Apple's error for the first member that is wrong.
  init(_ body: JSONObject) throws(APIFailure) {
    let request = MassExtendRenewalDateRequest(json: body)
    try APIFailure.check(request.violations(), ExtensionTerms.failures + Self.failures)
    guard let days = request.extendByDays, let identifier = request.requestIdentifier, let productId = request.productId
    else { throw .badRequest }
    terms = ExtensionTerms(days: days, requestIdentifier: identifier)
    self.productId = productId
    storefronts = request.storefrontCountryCodes
  }

  private static let failures: [FieldFailure] = [
    FieldFailure("productId", .invalidProductId),
    FieldFailure(
      "storefrontCountryCodes", .invalidStorefrontCountryCode,
      [.storefrontsNotEmpty: .invalidEmptyStorefrontCountryCodeList]),
  ]
}
