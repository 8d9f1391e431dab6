// What people hand to `millrace verify`: a bare token, or the body in which Apple posted it. Pure.

internal import AppStore

/// Finds the token in what was handed over.
public enum VerifyInput {
  /// The compact JWS in `bytes`.
  ///
  /// Accepted are the token itself and a JSON object that holds it in the member of its kind (`signedPayload` for a
  /// notification) or, for any kind, in `signedPayload`. White space around either, and a byte order mark, are ignored.
  /// - Throws: ``Fault`` where there is none.
  public static func token(in bytes: [UInt8], kind: SignedDataKind) throws(Fault) -> [UInt8] {
    let content = trimmed(bytes)
    guard let first = content.first else { throw Fault(message: "nothing to verify: the input is empty") }
    guard first == UInt8(ascii: "{") else { return Array(content) }
    let body: JSONObject
    do {
      body = try JSONObject(parsing: content)
    } catch {
      throw Fault(message: "the input begins like JSON and is none: \(error)")
    }
    for name in [kind.member, SignedDataKind.notification.member] {
      if case .string(let token)? = body[name] { return Array(trimmed(Array(token.utf8))) }
    }
    if body["notification_type"] != nil {
      throw Fault(message: "a version 1 notification is not signed: its shared secret is checked by millrace-ingress")
    }
    throw Fault(message: "no \(kind.member) in the JSON object, or one that is no text")
  }

  /// Why there is no token.
  public struct Fault: Error, Sendable, Hashable {
    /// For a person.
    public var message: String
  }

  private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    var content = bytes[...]
    if content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
    while let first = content.first, isSpace(first) { content.removeFirst() }
    while let last = content.last, isSpace(last) { content.removeLast() }
    return content
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }
}
