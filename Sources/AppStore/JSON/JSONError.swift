// The error of this module: bytes that are not the expected JSON.

/// Bytes that are not JSON (RFC 8259), or not the expected JSON object.
///
/// It contains the position but never the content: payloads contain purchase data and secrets, and errors end up in
/// logs.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The bytes end inside a value.
    case unexpectedEnd = "the document ends inside a value"
    /// A byte that is not allowed at this position.
    case unexpectedByte = "an unexpected byte"
    /// The value is followed by more bytes.
    case trailingBytes = "bytes after the end of the value"
    /// A number that violates the grammar, such as `01` or `1.`.
    case invalidNumber = "a number that is not a JSON number"
    /// An invalid escape sequence.
    case invalidEscape = "an invalid escape sequence"
    /// An unescaped control character in a string.
    case controlCharacter = "an unescaped control character in a string"
    /// A string that is not UTF-8.
    case invalidUTF8 = "a string that is not UTF-8"
    /// Arrays and objects nested deeper than the caller allows.
    case tooDeep = "nesting deeper than the limit"
    /// JSON, but not an object where one is required.
    case notAnObject = "a value that is not an object"
  }

  /// The kind of error.
  public let reason: Reason
  /// The offset in bytes from the start of the document.
  public let offset: Int

  /// Creates an error.
  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// The problem, its position and the remedy: the same bytes fail again, so the sender has to send something else.
  public var description: String {
    "invalid JSON: \(reason.rawValue) at byte \(offset); reject it, the same bytes will fail again"
  }
}
