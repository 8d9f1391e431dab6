// The spellings of a consumer's name.

internal import MillraceCore

/// A consumer's name and its derived forms.
package struct ConsumerName: Sendable, Hashable {
  /// The name in topics, group and image: `win-back`.
  package let name: String
  /// The name of the Swift type: `WinBack`.
  package let type: String

  /// Validates a name.
  /// - Throws: ``OperationError`` that describes valid names.
  package init(_ name: String) throws(OperationError) {
    guard WorkerEntry.isName(name), !name.hasSuffix("-"), !name.contains("--") else {
      throw OperationError(
        .usage, "`\(name)` is not a valid consumer name",
        remedy: "use 1 to 40 lower-case letters, digits and single hyphens, starting with a letter, such as win-back")
    }
    self.name = name
    type = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}
