// A field that is not as documented, for logs and metrics. It contains the name, never the value.

/// A documented field whose JSON has another kind. It reads as nil; the rest of the payload is intact.
public struct OddField: Sendable, Hashable, CustomStringConvertible {
  /// The path from the outermost object, such as `data.status` or `latest_receipt_info[3].quantity`.
  public let path: String
  /// The documented kind.
  public let expected: JSONKind
  /// The actual kind.
  public let found: JSONKind

  /// Creates a field.
  public init(path: String, expected: JSONKind, found: JSONKind) {
    self.path = path
    self.expected = expected
    self.found = found
  }

  /// The path and both kinds, without the value.
  public var description: String { "\(path): expected \(expected.rawValue), found \(found.rawValue)" }
}
