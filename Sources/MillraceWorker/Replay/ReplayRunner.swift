// Executes one part of a replay: reads a partition once from start to end and sends the selected records at the
// operator's rate. Progress is recorded together with the copies. A host writes them: the lane of a worker, or a
// command that writes to a topic.

internal import MillraceTime
internal import KafkaClient
internal import Synchronization
internal import MillraceRecords

/// The instruction that a part follows.
package enum ReplayControl: Sendable, Hashable {
  /// Leave the part as it is: it is finished, another process executes it, or the host is shutting down.
  case over
  case pause
  /// End the part at its current position.
  case stop
  /// Continue. The rate is the maximum number of records per second for this part; nil means no limit.
  case go(rate: Double?)
}

/// The progress of a part.
package struct ReplayPlace: Sendable, Hashable {
  /// The next offset to read.
  package var next: Int64
  /// The number of records sent so far.
  package var sent: Int64

  package init(next: Int64, sent: Int64) {
    (self.next, self.sent) = (next, sent)
  }
}

/// Writes the copies and the progress of a replay.
protocol ReplayHost: Sendable {
  /// Returns the current instruction. Called before each batch and each page.
  func control() async -> ReplayControl
  /// Writes copies of the records and the progress after them, both or neither. Returns when both are in Kafka.
  func send(_ records: [ConsumerRecord], behind place: ReplayPlace) async throws
  /// Writes how the part ended.
  func end(_ outcome: OperationResult.Outcome, sent: Int64) async throws
}

/// Reads a part and sends the selected records.
struct ReplayRunner: Sendable {
  let log: any RecordLog
  let partition: TopicPartition
  let part: ReplayPart
  let clock: MillraceClock
  /// The clock that determines when a record was written, as `clock` in the configuration sets it.
  let recordClock: MillraceClock
  /// Signals that the instruction may have changed.
  let wakeUp: AsyncSignal

  static let batchSize = 200
  private static let pageSize = 500
  /// The number of offsets after which progress is written even if nothing was sent.
  private static let noteEvery: Int64 = 20_000
  /// How long a partition may end before the part does. A broker that has just become the leader learns the end late.
  private static let endPatience = Duration.seconds(60)

  /// The instruction has changed, or records that had to be read are deleted.
  private struct Interrupted: Error {}

  private struct Cursor: Sendable {
    var place: ReplayPlace
    /// The next offset according to the last progress written.
    var noted: Int64
    var pace = ReplayPace()
  }

  /// Continues from a position until the part ends or an instruction ends it.
  /// - Throws: `KafkaError`, and the errors of `host`.
  func run(from place: ReplayPlace, on host: some ReplayHost) async throws {
    let start = ReplayPlace(next: max(part.from, place.next), sent: place.sent)
    let cursor = Shared(Cursor(place: start, noted: start.next))
    var isShortSince: MillraceClock.Instant?
    while true {
      try Task.checkCancellation()
      let place = cursor.value.place
      switch await host.control() {
      case .over: return
      case .pause:
        await wakeUp.wait()
        continue
      case .stop: return try await host.end(.stopped(next: place.next), sent: place.sent)
      case .go: break
      }
      if place.next < part.to {
        // A topic that is missing counts as one without records.
        let ends = try await ends() ?? 0..<0
        if ends.lowerBound > place.next {
          let (gone, oldest) = (min(ends.lowerBound, part.to) - 1, ends.lowerBound)
          let why = "offsets \(place.next) to \(gone) are gone: retention deleted them; the oldest is \(oldest)"
          return try await host.end(.failed(why), sent: place.sent)
        }
        // The part was chosen from records that were there.
        if ends.upperBound < part.to {
          let since = isShortSince ?? clock.now
          isShortSince = since
          guard since.duration(to: clock.now) >= Self.endPatience else {
            await wakeUp.wait(until: clock.now.advanced(by: .seconds(1)), on: clock)
            continue
          }
          let why =
            "offsets \(ends.upperBound) to \(part.to - 1) are gone: the topic was deleted, created again or lost records"
          return try await host.end(.failed(why), sent: place.sent)
        }
        isShortSince = nil
        // Compaction may have removed the last record, and then it says nothing.
        if let last = part.last, ends.contains(last.offset),
          let found = try await log.record(at: last.offset, of: partition), RecordFingerprint(found) != last
        {
          let why = "the topic was created again: offset \(last.offset) has another record than when the replay began"
          return try await host.end(.failed(why), sent: place.sent)
        }
      }
      do {
        if place.next < part.to { try await read(cursor, host) }
        return try await host.end(.done, sent: cursor.value.place.sent)
      } catch is Interrupted {
        continue
      }
    }
  }

  private func read(_ cursor: Shared<Cursor>, _ host: some ReplayHost) async throws {
    let matcher = RecordMatcher(part.selection)
    let start = cursor.value.place.next
    try await log.scan(partition, from: .offset(start), to: .offset(part.to), upTo: Self.pageSize) { page in
      // A gap is the marker of a transaction, or records that retention has deleted during this scan.
      if let first = page.first?.offset, first > cursor.value.place.next, let oldest = try await ends()?.lowerBound,
        oldest > cursor.value.place.next
      {
        throw Interrupted()
      }
      var chosen = page.filter { matcher.matches($0, at: $0.time(by: recordClock)) }[...]
      while !chosen.isEmpty {
        let rate = try await turn(cursor, host)
        let batch = Self.fitting(chosen.prefix(ReplayPace.batch(at: rate, limit: Self.batchSize)))
        chosen = chosen.dropFirst(batch.count)
        try await send(batch, cursor, host)
        cursor.update { $0.pace.sent(batch.count, at: rate, now: clock.now) }
      }
      if let last = page.last { cursor.update { $0.place.next = last.offset + 1 } }
      if cursor.value.place.next - cursor.value.noted >= Self.noteEvery { try await send([], cursor, host) }
      guard case .go = await host.control() else { throw Interrupted() }
    }
    cursor.update { $0.place.next = part.to }
  }

  /// Returns as many records as fit into one write, but at least one.
  private static func fitting(_ records: ArraySlice<ConsumerRecord>) -> [ConsumerRecord] {
    var bytes = 0
    let fitting = records.prefix { record in
      bytes += record.value?.count ?? 0
      return bytes <= LaneCommands.bytesPerWrite
    }
    return Array(records.prefix(max(1, fitting.count)))
  }

  /// Waits until the pace allows the next batch.
  /// - Returns: The current rate.
  private func turn(_ cursor: Shared<Cursor>, _ host: some ReplayHost) async throws -> Double? {
    while true {
      try Task.checkCancellation()
      guard case .go(let rate) = await host.control() else { throw Interrupted() }
      guard let due = cursor.value.pace.due(now: clock.now) else { return rate }
      await wakeUp.wait(until: due, on: clock)
    }
  }

  private func send(_ records: [ConsumerRecord], _ cursor: Shared<Cursor>, _ host: some ReplayHost) async throws {
    var place = cursor.value.place
    place.sent += Int64(records.count)
    if let last = records.last { place.next = last.offset + 1 }
    try await host.send(records, behind: place)
    cursor.update {
      $0.place = place; $0.noted = place.next
    }
  }

  /// Returns the oldest offset in the partition and its end, or nil if the partition is unknown.
  private func ends() async throws -> Range<Int64>? {
    do {
      return try await log.highWatermarks(of: [partition], timeout: .seconds(30))[partition]
    } catch {
      guard error.isUnknownTopic else { throw error }
      return nil
    }
  }

  /// A value that the pages of a scan share. They are processed one after the other.
  private final class Shared<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    init(_ value: Value) { content = Mutex(value) }

    var value: Value { content.withLock { $0 } }
    func update(_ change: (inout Value) -> Void) { content.withLock { change(&$0) } }
  }
}
