// The request bodies of the two extension endpoints.

internal import AppStore

/// The members that both bodies share.
struct ExtensionTerms: Sendable, Hashable {
  let days: Int
  let requestIdentifier: String

  /// - Throws: Apple's error for the first invalid member.
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

  /// If `extendReasonCode` is missing, Apple responds with an internal error, as callers have observed.
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
  /// The storefronts; nil for every storefront.
  let storefronts: [String]?

  /// - Throws: Apple's error for the first invalid member.
  init(_ body: JSONObject) throws(APIFailure) {
    let request = MassExtendRenewalDateRequest(json: body)
    try APIFailure.check(request.violations(), ExtensionTerms.failures + Self.failures)
    guard let days = request.extendByDays, let identifier = request.requestIdentifier, let productId = request.productId
    else { throw .badRequest }
    guard request.storefrontCountryCodes?.allSatisfy({ Storefronts.isKnown($0) }) ?? true else {
      throw .invalidStorefrontCountryCode
    }
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
