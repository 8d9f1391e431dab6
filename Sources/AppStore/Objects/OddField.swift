// What was not as documented, for logs and metrics: the field by name, never its value.

/// A documented field whose JSON is not of the documented kind. It reads as nil; the payload it stands in is intact.
public struct OddField: Sendable, Hashable, CustomStringConvertible {
  /// Where, from the outermost object: `data.status`, `latest_receipt_info[3].quantity`.
  public let path: String
  /// What Apple documents.
  public let expected: JSONKind
  /// What is there.
  public let found: JSONKind

  /// A field at that path.
  public init(path: String, expected: JSONKind, found: JSONKind) {
    self.path = path
    self.expected = expected
    self.found = found
  }

  /// The field and both kinds, without the value.
  public var description: String { "\(path): \(expected.rawValue) expected, \(found.rawValue) found" }
}
