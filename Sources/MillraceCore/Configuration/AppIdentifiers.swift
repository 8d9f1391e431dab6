// The forms of an app's identifiers. Apple's portal, shells and secret stores add white space, quotes and prefixes when
// they are copied, and Apple's 401 does not say which of them is wrong.

internal import AppStore

extension SettingCodec where Value == String {
  /// A bundle ID, as App Store Connect shows it.
  static let bundleId = identifier(
    "a bundle ID: letters, digits, hyphens and periods, such as com.example.app, without quotes or a team ID before it"
  ) { text in
    let isName = text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    return isName && !text.isEmpty && !beginsWithTeam(text)
  }

  /// The ID of an In-App Purchase key.
  static let keyId = identifier(
    "a key ID: 10 capital letters and digits, such as 2X9R4HXF34; a UUID is the issuer ID", where: isTenCharacters)

  /// The ID of the issuer of API keys.
  static let issuerId = identifier(
    "an issuer ID: a UUID, such as 57246542-96fe-1a63-e053-0824d011072a; 10 letters and digits are the key ID",
    where: \.isUUID)

  /// Text of a form, after white space at its ends is dropped. An error repeats a short value.
  private static func identifier(_ expected: String, where isValid: @escaping @Sendable (String) -> Bool) -> Self {
    Self(
      kind: "text",
      parse: { value throws(SettingFault) in
        guard case .scalar(let text) = value.content else { throw SettingFault(expected) }
        var rest = text.drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        guard isValid(String(rest)) else { throw SettingFault(expected, found: text) }
        return String(rest)
      }, render: { .scalar($0) })
  }

  /// Whether the text is a team ID and a bundle ID, as in the entitlement `application-identifier`.
  private static func beginsWithTeam(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count > 2 && isTenCharacters(String(parts[0])) && parts[0].contains(where: \.isNumber)
  }

  /// Whether the text has the form of Apple's key and team IDs.
  @Sendable private static func isTenCharacters(_ text: String) -> Bool {
    text.utf8.count == 10
      && text.utf8.allSatisfy { isLetterOrDigit($0) && !(UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0) }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }
}
