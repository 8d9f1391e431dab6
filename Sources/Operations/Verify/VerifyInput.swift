// The input of `millrace verify`: a bare token, or the body that Apple posted. Pure.

internal import AppStore

/// Finds the token in the input.
package enum VerifyInput {
  /// The compact JWS in `bytes`.
  ///
  /// Accepts the token itself, or a JSON object with the token in the member of its kind (`signedPayload` for a
  /// notification) or, for any kind, in `signedPayload`. Ignores surrounding white space and a byte order mark.
  /// - Throws: ``Fault`` if there is no token.
  package static func token(in bytes: [UInt8], kind: SignedDataKind) throws(Fault) -> [UInt8] {
    let content = trimmed(bytes)
    guard let first = content.first else { throw Fault(message: "the input is empty") }
    guard first == UInt8(ascii: "{") else { return Array(content) }
    let body: JSONObject
    do {
      body = try JSONObject(parsing: content)
    } catch {
      throw Fault(message: "the input is invalid JSON: \(error)")
    }
    for name in [kind.member, SignedDataKind.notification.member] {
      if case .string(let token)? = body[name] { return Array(trimmed(Array(token.utf8))) }
    }
    if body["notification_type"] != nil {
      throw Fault(message: "version 1 notifications are not signed; millrace-ingress checks their shared secret")
    }
    throw Fault(message: "the JSON object has no \(kind.member), or it is not a string")
  }

  /// The reason why there is no token.
  package struct Fault: Error, Sendable, Hashable {
    /// The message for people.
    package var message: String
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
