// The ID of a dead letter: its position in the worker's dead-letter topic.

/// One dead letter of a worker, written `<lane>/<offset>`.
package struct DeadLetterID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The lane: the partition of the dead-letter topic.
  package var lane: Int32
  /// The offset in that partition.
  package var offset: Int64

  /// Creates an ID.
  package init(lane: Int32, offset: Int64) {
    self.lane = lane
    self.offset = offset
  }

  /// Parses an ID. Also accepts the item name of commands (`dead-letters/<lane>/<offset>`).
  /// - Throws: ``OperationError`` if the text is not an ID.
  package init(_ text: String) throws(OperationError) {
    let name = "dead-letters/"
    let parts = (text.hasPrefix(name) ? text.dropFirst(name.count) : text[...])
      .split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let lane = Int32(parts[0]), let offset = Int64(parts[1]), lane >= 0, offset >= 0 else {
      throw OperationError(
        .usage, "not a dead-letter id", at: text, remedy: "copy an id such as 3/17 from millrace dead-letters list")
    }
    self.init(lane: lane, offset: offset)
  }

  /// `<lane>/<offset>`.
  package var description: String { "\(lane)/\(offset)" }

  /// Orders by lane, then by offset.
  package static func < (left: DeadLetterID, right: DeadLetterID) -> Bool {
    (left.lane, left.offset) < (right.lane, right.offset)
  }
}

/// Identifies a dead letter in the whole deployment.
package struct DeadLetterKey: Sendable, Hashable {
  /// The worker that gave up.
  package var worker: String
  /// The ID among the worker's dead letters.
  package var id: DeadLetterID

  /// Creates a key.
  package init(worker: String, id: DeadLetterID) { (self.worker, self.id) = (worker, id) }
}
