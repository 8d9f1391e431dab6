import Testing

@testable import MillraceCore

@Suite struct AppIdentifiersTests {
  private static let issuer = "57246542-96fe-1a63-e053-0824d011072a"

  private func load(
    bundleId: String = "com.example.app", issuerId: String = issuer, keyId: String = "2X9R4HXF34"
  ) throws -> AppSettings {
    try LoadedConfiguration.load(
      text: "",
      environment: [
        "MILLRACE_APPS_0_BUNDLE_ID": bundleId, "MILLRACE_APPS_0_ENVIRONMENTS": "[Sandbox]",
        "MILLRACE_APPS_0_API_ISSUER_ID": issuerId, "MILLRACE_APPS_0_API_KEY_ID": keyId,
        "MILLRACE_APPS_0_API_PRIVATE_KEY_FILE": "apple.p8",
      ]
    ).configuration.apps[0]
  }

  @Test(arguments: ["", " ", "\n", "\r\n", "\t \n"])
  func `white space at the ends of an identifier is dropped`(space: String) throws {
    let app = try load(
      bundleId: space + "com.example.app" + space, issuerId: space + Self.issuer + space,
      keyId: space + "2X9R4HXF34" + space)
    #expect(app.bundleId == "com.example.app" && app.api.issuerId == Self.issuer && app.api.keyId == "2X9R4HXF34")
  }

  @Test(arguments: ["2X9R4HXF3", "2X9R4HXF345", "2x9r4hxf34", "2X9R4 XF34", "\"2X9R4HXF34\"", issuer])
  func `a key ID of another form is refused with value, place and what is right`(id: String) throws {
    let error = #expect(throws: MillraceError.self) { try load(keyId: id) }
    let text = "\(error as Any)"
    #expect(
      error?.description.contains("`apps[0].api.keyId` has the invalid value \(id.debugDescription)") == true, "\(text)"
    )
    #expect(error?.description.contains("MILLRACE_APPS_0_API_KEY_ID") == true, "\(text)")
    #expect(error?.description.contains("10 capital letters and digits") == true, "\(text)")
  }

  @Test(arguments: ["2X9R4HXF34", "57246542", "'\(issuer)'", "57246542-96fe-1a63-e053-0824d011072g"])
  func `an issuer ID that is no UUID is refused`(id: String) throws {
    let error = #expect(throws: MillraceError.self) { try load(issuerId: id) }
    #expect(error?.description.contains("`apps[0].api.issuerId` has the invalid value") == true, "\(error as Any)")
    #expect(error?.description.contains("a UUID") == true, "\(error as Any)")
  }

  @Test(arguments: [
    "\"com.example.app\"", "ABCDE12345.com.example.app", "com.example.app/x", "com.example app", "com.exämple.app",
    "com.example_app",
  ])
  func `a bundle ID of another form is refused`(id: String) throws {
    let error = #expect(throws: MillraceError.self) { try load(bundleId: id) }
    #expect(error?.description.contains("`apps[0].bundleId` has the invalid value") == true, "\(error as Any)")
  }

  @Test(arguments: ["a", "com.example.app", "Com.Example.My-App2", "abcde12345.com.example", "EXAMPLEAPP.one.two"])
  func `a bundle ID may have letters of both cases, digits, hyphens and periods`(id: String) throws {
    #expect(try load(bundleId: id).bundleId == id)
  }

  @Test(arguments: [
    "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nMIGT", "\u{FEFF}-----BEGIN PRIVATE KEY-----MIGT",
    String(repeating: "A", count: 64), String(repeating: "A", count: 10_000),
  ])
  func `a value that may be a private key is not repeated`(secret: String) throws {
    let asKey = #expect(throws: MillraceError.self) { try load(keyId: secret) }
    let asIssuer = #expect(throws: MillraceError.self) { try load(issuerId: secret) }
    for error in [asKey, asIssuer] {
      let text = try #require(error).description
      #expect(!text.contains("BEGIN") && !text.contains("MIGT") && !text.contains("AAAA"), "\(text)")
      #expect(text.contains("has an invalid value") && text.contains("`apps[0].api."), "\(text)")
    }
    let error = #expect(throws: MillraceError.self) { try load(keyId: String(repeating: "A", count: 63)) }
    #expect(error?.description.contains(String(repeating: "A", count: 63)) == true, "\(error as Any)")
  }
}
