/// A bearer token for SASL/OAUTHBEARER (RFC 7628). Printing it shows no part of the token.
public struct KafkaToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// The token, as the broker receives it.
  public var value: String
  /// The end of its validity, in milliseconds since 1970.
  public var expiresAt: Int64
  /// The name that librdkafka logs for it.
  public var principal: String
  /// SASL extensions (RFC 7628, section 3.1), such as Confluent Cloud's `logicalCluster`. Names have letters only.
  public var extensions: [String: String]

  /// Creates a token.
  public init(value: String, expiresAt: Int64, principal: String, extensions: [String: String] = [:]) {
    self.value = value
    self.expiresAt = expiresAt
    self.principal = principal
    self.extensions = extensions
  }

  /// The fault of a token that librdkafka would refuse with a message that contains it; nil if there is none.
  func objection(at now: Int64) -> String? {
    let visible: ClosedRange<UInt8> = 0x21...0x7E
    if value.isEmpty || !value.utf8.allSatisfy(visible.contains) {
      return "the token is empty, or has a character that is not visible ASCII"
    }
    if expiresAt <= now {
      return "the token expired at \(expiresAt), and it is \(now), in milliseconds since 1970: check the clock"
    }
    return Self.objection(to: extensions)
  }

  /// The fault of SASL extensions (RFC 7628, section 3.1); nil if there is none.
  package static func objection(to extensions: [String: String]) -> String? {
    for (name, value) in extensions.sorted(by: { $0.key < $1.key }) {
      if name.isEmpty || name == "auth" || !name.utf8.allSatisfy(isLetter) {
        return "the name of the extension \(name) must have letters only, and must not be auth"
      }
      if !value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
        return "the value of the extension \(name) has a character that is not ASCII"
      }
    }
    return nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// The principal and the end of the validity.
  public var description: String { "token of \(principal) until \(expiresAt)" }
  /// The same as ``description``.
  public var debugDescription: String { description }
}
