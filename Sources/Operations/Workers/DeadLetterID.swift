// How people name a dead letter: by its place in the worker's topic.

/// One dead letter of a worker, written `<lane>/<offset>`.
public struct DeadLetterID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The lane: the partition of the dead-letter topic.
  public var lane: Int32
  /// The offset there.
  public var offset: Int64

  /// Names a place.
  public init(lane: Int32, offset: Int64) {
    self.lane = lane
    self.offset = offset
  }

  /// Reads an id; what commands call the item (`dead-letters/<lane>/<offset>`) is one too.
  /// - Throws: ``OperationError`` for anything else.
  public init(_ text: String) throws(OperationError) {
    let name = "dead-letters/"
    let parts = (text.hasPrefix(name) ? text.dropFirst(name.count) : text[...])
      .split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let lane = Int32(parts[0]), let offset = Int64(parts[1]), lane >= 0, offset >= 0 else {
      throw OperationError(
        .usage, "no id of a dead letter", at: text, remedy: "copy one from millrace dead-letters list, as in 3/17")
    }
    self.init(lane: lane, offset: offset)
  }

  /// `<lane>/<offset>`.
  public var description: String { "\(lane)/\(offset)" }

  /// By lane, then by offset.
  public static func < (left: DeadLetterID, right: DeadLetterID) -> Bool {
    (left.lane, left.offset) < (right.lane, right.offset)
  }
}
