// Records and timers that kill the process: found by what the dead left behind.

internal import AppStore

/// What a lane that starts makes of the marks its predecessor left, and what it leaves itself.
///
/// After two unclean starts in a row the lane runs one record, or timer, at a time and names it before it runs. What is
/// named at the third is condemned, where none of the three is known to have been a mere loss: the process lived on.
/// Enough of them settled without a crash end the suspicion.
struct PoisonWatch: Sendable {
  /// From this many unclean starts on, one record at a time. Losses count: who cannot commit a batch in time may be able
  /// to commit one record.
  static let startsUntilOneAtATime = 2
  /// From this many on that are not known to be losses, what was in flight is condemned.
  static let startsUntilCondemned = 3

  /// Names this ownership of the lane.
  let owner: UInt32
  private let patience: Int
  private var settledCount = 0
  /// Ownerships in a row that ended without order and are not known to have been survived, the oldest first.
  private var unclean: [UInt32]
  /// How many in that row are.
  private var losses: Int

  /// Starts in a row, this one included, that followed an end without order.
  var uncleanStarts: Int { unclean.count + losses }
  /// Records to be dead-lettered as ``reason`` without running.
  private(set) var condemned: Set<SourcePosition>
  /// Timers to be dead-lettered as ``reason`` without firing, by ``mark(of:_:)``.
  private(set) var condemnedTimers: Set<UInt64> = []

  /// The dead letter's stable code.
  static let reason = "crashed-the-process"

  /// - Parameters:
  ///   - metadata: What was committed beside the offset of each source.
  ///   - owner: Names this ownership; a number of its own, for instance random.
  ///   - survivors: Ownerships that ended without order in a process that lived on: it lost the lane, or could not commit
  ///     any more. No record is to blame for that.
  ///   - patience: Records settled without a crash that end the suspicion: at least what the lane's sources may have had
  ///     in flight together.
  init(metadata: [String: String], owner: UInt32, survivors: Set<UInt32> = [], patience: Int) {
    self.owner = owner
    self.patience = max(1, patience)
    let marks = metadata.compactMapValues { PoisonMark($0) }
    let rows = marks.mapValues { mark in
      let row = mark.unclean + [mark.owner]
      let unclean = row.filter { !survivors.contains($0) }
      return (unclean: unclean, losses: mark.losses + row.count - unclean.count)
    }
    unclean = rows.values.map(\.unclean).max { $0.count < $1.count } ?? []
    losses = rows.values.map(\.losses).max() ?? 0
    condemned = []
    guard unclean.count >= Self.startsUntilCondemned else { return }
    for (topic, mark) in marks where rows[topic]?.unclean.count == unclean.count {
      // What was condemned before stays so although its owner lost the lane before it was settled.
      let offsets = mark.condemned + (survivors.contains(mark.owner) ? [] : mark.inFlight)
      condemned.formUnion(offsets.map { SourcePosition(topic: topic, offset: $0) })
      condemnedTimers.formUnion(mark.condemnedTimers + (survivors.contains(mark.owner) ? [] : mark.timers))
    }
  }

  /// Whether the marks speak of an end without order by somebody else than these: then it is worth asking who survived.
  static func isSuspicious(_ metadata: some Sequence<String>, known: Set<UInt32>) -> Bool {
    metadata.contains { text in PoisonMark(text).map { !known.isSuperset(of: $0.unclean + [$0.owner]) } ?? false }
  }

  /// Whether one record runs at a time, and ``metadata(of:inFlight:)`` that names it is committed before it runs.
  var isOneAtATime: Bool { uncleanStarts >= Self.startsUntilOneAtATime }

  /// Whether a record is to be dead-lettered. It stays so until it is settled.
  func isCondemned(_ position: SourcePosition) -> Bool { condemned.contains(position) }

  /// What stands for a timer in marks. Set again for another time it is another.
  static func mark(of name: String, _ timer: LaneTimer) -> UInt64 {
    LedgerKey(id: "\(timer.at.millisecondsSince1970)/\(name)").low
  }

  /// Whether a timer is to be dead-lettered. It stays so until it is settled.
  func isCondemned(timer mark: UInt64) -> Bool { condemnedTimers.contains(mark) }

  /// What followed from a timer is in Kafka and the process lives.
  mutating func settled(timer mark: UInt64) {
    condemnedTimers.remove(mark)
    countSettled()
  }

  /// What followed from a record is in Kafka and the process lives.
  mutating func settled(_ position: SourcePosition) {
    condemned.remove(position)
    countSettled()
  }

  private mutating func countSettled() {
    settledCount += 1
    guard settledCount >= patience else { return }
    unclean = []
    losses = 0
  }

  /// The metadata of one source's offset. Committed before a lane that starts hands out its first record.
  /// - Parameters:
  ///   - inFlight: Offsets of this source that are with a handler.
  ///   - timers: Timers of the lane that are, by ``mark(of:_:)``.
  func metadata(of topic: String, inFlight: [Int64], timers: [UInt64] = []) -> String {
    let own = condemned.filter { $0.topic == topic }.map(\.offset)
    return PoisonMark(
      owner: owner, losses: losses, unclean: unclean, condemnedTimers: Array(condemnedTimers), timers: timers,
      condemned: own, inFlight: inFlight
    ).metadata
  }

  /// The metadata of a lane that ends in order.
  static let cleanMetadata = ""
}
