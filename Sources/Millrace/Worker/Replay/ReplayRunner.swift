// One part of a replay: a partition read once from end to end, the chosen records handed on at the pace the operator
// allows, the place noted together with what was sent. Who hands on is a host: the lane of a worker, or a command that
// writes to a topic.

internal import Clocks
internal import Kafka
internal import Synchronization

/// Whether a part goes on.
package enum ReplayWord: Sendable, Hashable {
  /// It is finished, another's, or whoever carries it out leaves: it stands as it is.
  case over
  /// Wait.
  case pause
  /// End here.
  case stop
  /// Go on; records a second for this part at most.
  case go(rate: Double?)
}

/// Where a part stands.
package struct ReplayPlace: Sendable, Hashable {
  /// The next offset to look at.
  package var next: Int64
  /// How many records were sent.
  package var sent: Int64

  package init(next: Int64, sent: Int64) {
    (self.next, self.sent) = (next, sent)
  }
}

/// Who hands records on.
protocol ReplayHost: Sendable {
  /// Asked before each batch and each page.
  func word() async -> ReplayWord
  /// Sends copies of these and notes the place behind them, both or nothing; returns when both are in Kafka.
  func send(_ records: [ConsumerRecord], behind place: ReplayPlace) async throws
  /// Notes how the part ended.
  func end(_ outcome: OperationResult.Outcome, sent: Int64) async throws
}

/// Reads a part and hands on what is chosen.
struct ReplayRunner: Sendable {
  let log: any RecordLog
  let partition: TopicPartition
  let part: ReplayPart
  let clock: MillraceClock
  /// Rung when the word may have changed.
  let bell: LaneBell

  static let batchSize = 200
  private static let pageSize = 500
  /// Offsets after which the place is noted although nothing was sent.
  private static let noteEvery: Int64 = 20_000

  /// The word has changed; or records that were to be read are gone.
  private struct Interrupted: Error {}

  private struct Cursor: Sendable {
    var place: ReplayPlace
    /// What the last note says.
    var noted: Int64
    var pace = ReplayPace()
  }

  /// Goes on from a place to the part's end, or as far as the word allows.
  /// - Throws: `KafkaError`; what `host` throws.
  func run(from place: ReplayPlace, on host: some ReplayHost) async throws {
    let start = ReplayPlace(next: max(part.from, place.next), sent: place.sent)
    let cursor = Shared(Cursor(place: start, noted: start.next))
    while true {
      try Task.checkCancellation()
      let place = cursor.value.place
      switch await host.word() {
      case .over: return
      case .pause:
        await bell.wait()
        continue
      case .stop: return try await host.end(.stopped(next: place.next), sent: place.sent)
      case .go: break
      }
      if let oldest = try await oldest(), oldest > place.next, place.next < part.to {
        let gone = "offsets \(place.next) to \(min(oldest, part.to) - 1) are gone"
        return try await host.end(.failed("\(gone), retention is over; the oldest is \(oldest)"), sent: place.sent)
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
      // A gap: the marker of a transaction, or what retention took while this was reading.
      if let first = page.first?.offset, first > cursor.value.place.next, let oldest = try await oldest(),
        oldest > cursor.value.place.next
      {
        throw Interrupted()
      }
      var chosen = page.filter { matcher.matches($0) }[...]
      while !chosen.isEmpty {
        let rate = try await turn(cursor, host)
        let batch = Self.fitting(chosen.prefix(ReplayPace.batch(at: rate, limit: Self.batchSize)))
        chosen = chosen.dropFirst(batch.count)
        try await send(batch, cursor, host)
        cursor.update { $0.pace.sent(batch.count, at: rate, now: clock.now) }
      }
      if let last = page.last { cursor.update { $0.place.next = last.offset + 1 } }
      if cursor.value.place.next - cursor.value.noted >= Self.noteEvery { try await send([], cursor, host) }
      guard case .go = await host.word() else { throw Interrupted() }
    }
    cursor.update { $0.place.next = part.to }
  }

  /// As many as one write may hold, one at least.
  private static func fitting(_ records: ArraySlice<ConsumerRecord>) -> [ConsumerRecord] {
    var bytes = 0
    let fitting = records.prefix { record in
      bytes += record.value?.count ?? 0
      return bytes <= LaneRunner.bytesPerWrite
    }
    return Array(records.prefix(max(1, fitting.count)))
  }

  /// Waits until the pace allows the next batch.
  /// - Returns: the rate now.
  private func turn(_ cursor: Shared<Cursor>, _ host: some ReplayHost) async throws -> Double? {
    while true {
      try Task.checkCancellation()
      guard case .go(let rate) = await host.word() else { throw Interrupted() }
      guard let due = cursor.value.pace.due(now: clock.now) else { return rate }
      await bell.wait(until: due, on: clock)
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

  /// The oldest record that is there; nil where nothing is known of the partition.
  private func oldest() async throws -> Int64? {
    try await log.highWatermarks(of: [partition], timeout: .seconds(30))[partition]?.lowerBound
  }

  /// What the pages of a scan share; they come one after the other.
  private final class Shared<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    init(_ value: Value) { content = Mutex(value) }

    var value: Value { content.withLock { $0 } }
    func update(_ change: (inout Value) -> Void) { content.withLock { change(&$0) } }
  }
}
