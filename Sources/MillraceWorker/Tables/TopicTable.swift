// A compacted topic as an in-memory table. Each read first catches up with the topic, so it includes everything that an
// operator wrote before, without a notice to the reader.

internal import MillraceTime
package import KafkaClient
internal import MillraceCore
package import MillraceRecords

/// A topic, folded into a value. Records of one key are applied in order. Records of different partitions have no
/// order.
public actor TopicTable<Content: Sendable> {
  /// The topic's name in Kafka.
  nonisolated let topic: String

  private let log: any RecordLog
  private let initial: Content
  private let fold: @Sendable (inout Content, ConsumerRecord) -> Void
  private var content: Content
  /// The next offset to read, by partition; empty until the topic was found. A keyed topic keeps its partition count.
  private var positions: [Int64] = []
  /// Reads are numbered. A caller needs the result of a read that began after its call.
  private var begun = 0
  private var ended = 0
  private var isReading = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  private static var timeout: Duration { .seconds(30) }
  private static var pageSize: Int { 1_000 }

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - topic: The topic's name in Kafka.
  ///   - log: The log to read from.
  ///   - initial: The content of an empty table.
  ///   - fold: Applies one record to the table. A record with a nil value removes its key. The same record may be
  ///     applied again.
  package init(
    _ topic: String, in log: any RecordLog, _ initial: Content,
    fold: @escaping @Sendable (inout Content, ConsumerRecord) -> Void
  ) {
    self.topic = topic
    self.log = log
    self.initial = initial
    self.fold = fold
    content = initial
  }

  /// Returns the table with everything that was committed before the call. Concurrent callers share a read.
  /// - Throws: `KafkaError`; ``MillraceError`` if the topic is missing.
  public func current() async throws -> Content {
    try await refresh()
    return content
  }

  /// Returns the result of `body` for the table as ``current()`` has it, without copying the table.
  func reading<Value: Sendable>(_ body: @Sendable (Content) -> Value) async throws -> Value {
    try await refresh()
    return body(content)
  }

  private func refresh() async throws {
    let needed = begun + 1
    while ended < needed {
      if isReading {
        await withCheckedContinuation { waiters.append($0) }
      } else {
        try await read()
      }
    }
  }

  private func read() async throws {
    isReading = true
    begun += 1
    let number = begun
    defer {
      isReading = false
      let waiting = waiters
      waiters = []
      for waiter in waiting { waiter.resume() }
    }
    try await catchUp()
    ended = number
  }

  private func catchUp() async throws {
    if positions.isEmpty {
      let count = try await log.partitionCounts(of: [topic], timeout: Self.timeout)[topic] ?? 0
      guard count > 0 else {
        throw MillraceError(
          .topics, "the topic is missing, or this process may not describe it", at: topic,
          remedy: "run `millrace topics apply`, or grant the right that `millrace topics acls` prints")
      }
      positions = Array(repeating: 0, count: count)
    }
    let partitions = positions.indices.map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
    let available = try await log.highWatermarks(of: partitions, timeout: Self.timeout)
    if zip(partitions, positions).contains(where: { available[$0, default: 0..<0].upperBound < $1 }) {
      // The topic was recreated, so nothing read before is valid.
      content = initial
      positions = positions.map { _ in 0 }
    }
    for (index, partition) in partitions.enumerated() {
      let (position, end) = (positions[index], available[partition, default: 0..<0].upperBound)
      guard end > position else { continue }
      positions[index] = try await log.scan(
        partition, from: position == 0 ? .earliest : .offset(position), to: .offset(end), upTo: Self.pageSize
      ) { page in await self.take(page) }
    }
  }

  private func take(_ page: [ConsumerRecord]) {
    for record in page { fold(&content, record) }
  }
}
