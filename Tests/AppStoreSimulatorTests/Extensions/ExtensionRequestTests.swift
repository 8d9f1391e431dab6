import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct ExtensionRequestTests {
  private static let uuid = "b3c0c4a5-7c1d-4b1e-9f5e-0d6f6f3f2a11"
  private static let mass: JSONObject = [
    "extendByDays": 30, "extendReasonCode": 3, "requestIdentifier": .string(uuid), "productId": "pro.monthly",
  ]

  static let mistakes: [(key: String, value: JSON?, failure: APIFailure)] = [
    ("extendByDays", nil, .invalidExtendByDays), ("extendByDays", 0, .invalidExtendByDays),
    ("extendByDays", 91, .invalidExtendByDays), ("extendByDays", .integer(.max), .invalidExtendByDays),
    ("extendByDays", "30", .invalidExtendByDays), ("extendReasonCode", 4, .invalidExtendReasonCode),
    ("extendReasonCode", -1, .invalidExtendReasonCode), ("extendReasonCode", nil, .generalInternal),
    ("requestIdentifier", nil, .invalidRequestIdentifier), ("requestIdentifier", "", .invalidRequestIdentifier),
    (
      "requestIdentifier", .string(String(repeating: "x", count: 129)), .invalidRequestIdentifier
    ),
    ("requestIdentifier", "campaign-1", .invalidRequestIdentifier),
    ("productId", nil, .invalidProductId), ("productId", "", .invalidProductId),
    ("storefrontCountryCodes", [], .invalidEmptyStorefrontCountryCodeList),
    ("storefrontCountryCodes", ["USA", "us"], .invalidStorefrontCountryCode),
    ("storefrontCountryCodes", ["USA", 7], .invalidStorefrontCountryCode),
    ("storefrontCountryCodes", ["USA", "ZZZ"], .invalidStorefrontCountryCode),
    ("storefrontCountryCodes", "USA", .invalidStorefrontCountryCode),
  ]

  @Test(arguments: mistakes.indices)
  func `an invalid member of a mass extension has its own error`(index: Int) {
    let mistake = Self.mistakes[index]
    #expect(throws: mistake.failure) { try MassExtensionRequest(Self.mass.with(mistake.key, mistake.value)) }
  }

  @Test func `a documented mass extension is accepted, for all storefronts or some`() throws {
    #expect(try MassExtensionRequest(Self.mass).storefronts == nil)
    let some = try MassExtensionRequest(Self.mass.with("storefrontCountryCodes", ["USA", "DEU", "XKS"]))
    #expect(some.storefronts == ["USA", "DEU", "XKS"])
    #expect(some.terms.days == 30)
  }

  @Test(arguments: [1, 90])
  func `a single extension accepts any identifier of at most 128 characters`(days: Int64) throws {
    let identifier = String(repeating: "é", count: 128)
    let terms = try ExtensionTerms([
      "extendByDays": .integer(days), "extendReasonCode": 0, "requestIdentifier": .string(identifier),
    ])
    #expect(terms.requestIdentifier == identifier)
    #expect(terms.days == Int(days))
  }
}
