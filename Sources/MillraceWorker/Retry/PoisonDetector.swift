// Finds records and timers that kill the process, from the marks that earlier owners of the lane committed.

internal import AppStore

/// Evaluates the marks that earlier owners of a lane left when the lane starts, and maintains its own mark.
///
/// After two unclean starts in a row, the lane runs one record or timer at a time and commits its name before it runs.
/// From the third unclean start on, a record or timer that was with a handler at the last two unclean ends becomes a dead
/// letter. So a process that is killed again and again for another reason loses no record. Ends that were only losses do
/// not count, because the process survived. Enough records settled without a crash end the suspicion.
struct PoisonDetector: Sendable {
  /// The number of unclean starts after which the lane runs one record at a time. Losses count: an owner that cannot
  /// commit a batch in time may be able to commit one record.
  static let startsUntilOneAtATime = 2
  /// The number of unclean starts, not counting losses, from which records become dead letters.
  static let startsUntilPoisoned = 3

  /// The id of this ownership of the lane.
  let owner: UInt32
  private let patience: Int
  private var settledCount = 0
  /// Consecutive ownerships that ended uncleanly and are not known to be losses, oldest first.
  private var unclean: [UInt32]
  /// The number of losses in the same sequence: unclean ends that the process survived.
  private var losses: Int

  /// The number of consecutive starts, including this one, that followed an unclean end.
  var uncleanStarts: Int { unclean.count + losses }
  /// Records that become dead letters with ``reason`` and do not run.
  private(set) var poisoned: Set<SourcePosition>
  /// Timers, by ``mark(of:)``, that become dead letters with ``reason`` and do not fire.
  private(set) var poisonedTimers: Set<UInt64> = []

  /// The records and timers that were with a handler at the last unclean end.
  private var suspected: Set<SourcePosition> = []
  private var suspectedTimers: Set<UInt64> = []

  /// The dead letter's stable code.
  static let reason = "crashed-the-process"

  /// - Parameters:
  ///   - metadata: The metadata committed with the offset of each source.
  ///   - owner: The id of this ownership; a unique number, for instance random.
  ///   - survivors: Ownerships that ended uncleanly in a process that survived, because it lost the lane or could no
  ///     longer commit. No record caused these.
  ///   - patience: The number of records settled without a crash that ends the suspicion. At least the number of
  ///     records that all sources of the lane may have in flight.
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
    poisoned = []
    for (topic, mark) in marks where rows[topic]?.unclean.count == unclean.count {
      let isLoss = survivors.contains(mark.owner)
      func positions(_ offsets: [Int64]) -> [SourcePosition] {
        offsets.map { SourcePosition(topic: topic, offset: $0) }
      }
      suspected.formUnion(positions(isLoss ? mark.suspected : mark.inFlight))
      suspectedTimers.formUnion(isLoss ? mark.suspectedTimers : mark.timers)
      guard unclean.count >= Self.startsUntilPoisoned else { continue }
      // Poisoned records stay poisoned even if the owner lost the lane before it settled them.
      poisoned.formUnion(positions(mark.poisoned + (isLoss ? [] : mark.inFlight.filter(mark.suspected.contains))))
      poisonedTimers.formUnion(
        mark.poisonedTimers + (isLoss ? [] : mark.timers.filter(mark.suspectedTimers.contains)))
    }
  }

  /// Whether the marks show an unclean end of an ownership that is not in `known`. Then the worker has to find out
  /// which processes survived.
  static func isSuspicious(_ metadata: some Sequence<String>, known: Set<UInt32>) -> Bool {
    metadata.contains { text in PoisonMark(text).map { !known.isSuperset(of: $0.unclean + [$0.owner]) } ?? false }
  }

  /// Whether only one record runs at a time. ``metadata(of:inFlight:)`` with that record is committed before it runs.
  var isOneAtATime: Bool { uncleanStarts >= Self.startsUntilOneAtATime }

  /// Whether a record must become a dead letter. This does not change until the record is settled.
  func isPoisoned(_ position: SourcePosition) -> Bool { poisoned.contains(position) }

  /// Returns the number that identifies a timer in marks. A timer that is set again for another time has another
  /// number.
  static func mark(of timer: NamedTimer) -> UInt64 {
    LedgerKey(id: "\(timer.timer.at.millisecondsSince1970)/\(timer.name)").low
  }

  /// Whether a timer must become a dead letter. This does not change until the timer is settled.
  func isPoisoned(timer mark: UInt64) -> Bool { poisonedTimers.contains(mark) }

  /// The outcome of a timer is in Kafka, and the process survived.
  mutating func settled(timer mark: UInt64) {
    poisonedTimers.remove(mark)
    suspectedTimers.remove(mark)
    countSettled()
  }

  /// The outcome of a record is in Kafka, and the process survived.
  mutating func settled(_ position: SourcePosition) {
    poisoned.remove(position)
    suspected.remove(position)
    countSettled()
  }

  private mutating func countSettled() {
    settledCount += 1
    guard settledCount >= patience else { return }
    unclean = []
    losses = 0
    suspected = []
    suspectedTimers = []
  }

  /// Returns the metadata for one source's offset. A lane that starts commits it before it runs its first record.
  /// - Parameters:
  ///   - inFlight: Offsets of this source whose records are with a handler.
  ///   - timers: The lane's timers, by ``mark(of:)``, that are with a handler.
  ///   - offset: The mark of the offset.
  func metadata(
    of topic: String, inFlight: [Int64], timers: [UInt64] = [], after offset: OffsetMark = OffsetMark()
  ) -> String {
    func offsets(_ positions: Set<SourcePosition>) -> [Int64] {
      positions.filter { $0.topic == topic }.map(\.offset)
    }
    return PoisonMark(
      owner: owner, losses: losses, unclean: unclean, poisonedTimers: Array(poisonedTimers), timers: timers,
      suspectedTimers: Array(suspectedTimers), poisoned: offsets(poisoned), inFlight: inFlight,
      suspected: offsets(suspected)
    ).metadata(after: offset)
  }
}
