// The one error of this module: bytes that are not the JSON they should be.

/// Bytes that are not JSON (RFC 8259), or not the JSON object that was expected.
///
/// It names the place and never the content: payloads hold purchase data and secrets, and errors end in logs.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The bytes end inside a value.
    case unexpectedEnd = "the document ends inside a value"
    /// A byte that cannot stand where it stands.
    case unexpectedByte = "a byte that cannot stand here"
    /// Something follows the value.
    case trailingBytes = "bytes after the end of the value"
    /// A number that does not follow the grammar, `01` or `1.` for instance.
    case invalidNumber = "a number that is not a JSON number"
    /// An escape sequence that JSON does not know.
    case invalidEscape = "an escape sequence that JSON does not know"
    /// A control character inside a string, which JSON demands to be escaped.
    case controlCharacter = "an unescaped control character in a string"
    /// A string that is not UTF-8.
    case invalidUTF8 = "a string that is not UTF-8"
    /// Arrays and objects nested deeper than the caller allows.
    case tooDeep = "nesting deeper than the limit"
    /// JSON, but not an object where an object must stand.
    case notAnObject = "a value that is not an object"
  }

  /// What is wrong.
  public let reason: Reason
  /// Where, in bytes from the start of the document.
  public let offset: Int

  /// An error of that kind at that offset.
  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// What is wrong, where, and what to do: there is nothing to retry, the sender has to send something else.
  public var description: String {
    "not acceptable as JSON: \(reason.rawValue), at byte \(offset); the same bytes will fail again, refuse them"
  }
}
