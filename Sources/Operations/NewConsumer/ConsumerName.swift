// A consumer's name in the forms in which it is written.

internal import Millrace

/// A name and what follows from it.
public struct ConsumerName: Sendable, Hashable {
  /// As in topics, group and image: `win-back`.
  public let name: String
  /// As a Swift type: `WinBack`.
  public let type: String

  /// A consumer called `name`.
  /// - Throws: ``OperationError`` that says what a name looks like.
  public init(_ name: String) throws(OperationError) {
    guard WorkerTopics.isName(name), !name.hasSuffix("-"), !name.contains("--") else {
      throw OperationError(
        .usage, "`\(name)` is no name for a consumer",
        remedy: "use 1 to 40 lower-case letters, digits and single hyphens, beginning with a letter, as in win-back")
    }
    self.name = name
    type = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}
