// The bodies of the two extension endpoints, checked in the order in which Apple's errors are documented.

internal import AppStore

/// What both bodies say.
struct ExtensionTerms: Sendable, Hashable {
  let days: Int
  let reasonCode: Int64
  let requestIdentifier: String

  static let days = 1...90
  static let reasonCodes: ClosedRange<Int64> = 0...3
  /// "The maximum string length is 128 characters."
  static let identifierLength = 128

  /// - Throws: Apple's error for the first member that is wrong. A missing `extendReasonCode` is an internal error,
  ///   which is what callers have met.
  init(_ body: JSONObject) throws(APIFailure) {
    guard case .integer(let days) = body["extendByDays"], Self.days.contains(Int(clamping: days)) else {
      throw .invalidExtendByDays
    }
    guard let reason = body["extendReasonCode"] else { throw .generalInternal }
    guard case .integer(let reasonCode) = reason, Self.reasonCodes.contains(reasonCode) else {
      throw .invalidExtendReasonCode
    }
    guard case .string(let identifier) = body["requestIdentifier"], !identifier.isEmpty,
      identifier.count <= Self.identifierLength
    else { throw .invalidRequestIdentifier }
    self.days = Int(days)
    self.reasonCode = reasonCode
    requestIdentifier = identifier
  }
}

/// The body of Extend Subscription Renewal Dates for All Active Subscribers.
struct MassExtensionRequest: Sendable, Hashable {
  let terms: ExtensionTerms
  let productId: String
  /// nil: every storefront.
  let storefronts: [String]?

  init(_ body: JSONObject) throws(APIFailure) {
    terms = try ExtensionTerms(body)
    guard UUIDText.isUUID(terms.requestIdentifier) else { throw .invalidRequestIdentifier }
    guard case .string(let productId) = body["productId"], !productId.isEmpty else { throw .invalidProductId }
    self.productId = productId
    switch body["storefrontCountryCodes"] {
    case nil, .null: storefronts = nil
    case .array(let codes):
      if codes.isEmpty { throw .invalidEmptyStorefrontCountryCodeList }
      var storefronts: [String] = []
      for code in codes {
        guard case .string(let text) = code, text.utf8.count == 3, text.utf8.allSatisfy({ (65...90).contains($0) })
        else { throw .invalidStorefrontCountryCode }
        storefronts.append(text)
      }
      self.storefronts = storefronts
    default: throw .invalidStorefrontCountryCode
    }
  }
}

/// UUIDs as text.
enum UUIDText {
  /// Whether this is a UUID in its usual form, in either case.
  static func isUUID(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return false }
    return bytes.enumerated().allSatisfy { index, byte in
      switch index {
      case 8, 13, 18, 23: byte == UInt8(ascii: "-")
      default: (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
      }
    }
  }
}
