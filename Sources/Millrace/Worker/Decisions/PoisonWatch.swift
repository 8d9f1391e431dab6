// Records that kill the process: found by what the dead left behind.

/// What a lane that starts makes of the marks its predecessor left, and what it leaves itself.
///
/// After two unclean starts in a row the lane runs one record at a time and names it before it runs. What is named at
/// the third is condemned. Enough records settled without a crash end the suspicion.
struct PoisonWatch: Sendable {
  /// From this many unclean starts on, one record at a time.
  static let startsUntilOneAtATime = 2
  /// From this many on, what was in flight is condemned.
  static let startsUntilCondemned = 3

  private let owner: UInt32
  private let patience: Int
  private var settledCount = 0

  /// Starts in a row, this one included, that followed an end without order.
  private(set) var uncleanStarts: Int
  /// Records to be dead-lettered as ``reason`` without running.
  private(set) var condemned: Set<SourcePosition>

  /// The dead letter's stable code.
  static let reason = "crashed-the-process"

  /// - Parameters:
  ///   - metadata: What was committed beside the offset of each source.
  ///   - owner: Names this process; a number of its own, for instance random. A lane that comes back to the process that
  ///     lost it was not left by a crash.
  ///   - patience: Records settled without a crash that end the suspicion: at least what the lane's sources may have had
  ///     in flight together.
  init(metadata: [String: String], owner: UInt32, patience: Int) {
    self.owner = owner
    self.patience = max(1, patience)
    let marks = metadata.compactMapValues { PoisonMark($0) }
    let foreign = marks.values.contains { $0.owner != owner }
    let before = marks.values.map(\.uncleanStarts).max() ?? 0
    uncleanStarts = marks.isEmpty ? 0 : foreign ? min(before, Int.max - 1) + 1 : before
    condemned = []
    guard foreign, uncleanStarts >= Self.startsUntilCondemned else { return }
    for (topic, mark) in marks where mark.owner != owner && mark.uncleanStarts == before {
      condemned.formUnion(mark.inFlight.map { SourcePosition(topic: topic, offset: $0) })
    }
  }

  /// Whether one record runs at a time, and ``metadata(inFlight:)`` that names it is committed before it runs.
  var isOneAtATime: Bool { uncleanStarts >= Self.startsUntilOneAtATime }

  /// Whether a record is to be dead-lettered. It stays so until it is settled.
  func isCondemned(_ position: SourcePosition) -> Bool { condemned.contains(position) }

  /// What followed from a record is in Kafka and the process lives.
  mutating func settled(_ position: SourcePosition) {
    condemned.remove(position)
    settledCount += 1
    if settledCount >= patience { uncleanStarts = 0 }
  }

  /// The metadata of one source's offset. Committed before a lane that starts hands out its first record.
  /// - Parameter inFlight: Offsets of this source that are with a handler.
  func metadata(inFlight: [Int64]) -> String {
    PoisonMark(owner: owner, uncleanStarts: uncleanStarts, inFlight: inFlight).metadata
  }

  /// The metadata of a lane that ends in order.
  static let cleanMetadata = ""
}
