// A compacted topic as a table in memory. Whoever decides by it asks for the table as it is now: what an operator wrote
// before the question is in the answer, although nobody was told of it.

internal import Clocks
public import Kafka

/// A topic, folded into a value. Records of one key come in their order; keys of different partitions in none.
public actor TopicTable<Content: Sendable> {
  /// The topic's name in Kafka.
  public nonisolated let topic: String

  private let log: any RecordLog
  private let initial: Content
  private let fold: @Sendable (inout Content, ConsumerRecord) -> Void
  private var content: Content
  /// By partition, where reading goes on; empty before the topic was found. A keyed topic keeps its partitions.
  private var positions: [Int64] = []
  /// Readings are numbered. A question is answered by one that began after it.
  private var begun = 0
  private var ended = 0
  private var isReading = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  private static var timeout: Duration { .seconds(30) }
  private static var pageSize: Int { 1_000 }

  /// A table nothing of which is read yet.
  ///
  /// - Parameters:
  ///   - topic: The topic's name in Kafka.
  ///   - initial: The table without a record.
  ///   - fold: Takes one record in; a value of nil removes. The same record may come again.
  public init(
    _ topic: String, in log: any RecordLog, _ initial: Content,
    fold: @escaping @Sendable (inout Content, ConsumerRecord) -> Void
  ) {
    self.topic = topic
    self.log = log
    self.initial = initial
    self.fold = fold
    content = initial
  }

  /// The table with everything that was committed before the call. Many callers share one reading.
  /// - Throws: `KafkaError`; ``MillraceError`` where the topic is missing.
  public func current() async throws -> Content {
    try await refresh()
    return content
  }

  /// What `body` finds in the table as ``current()`` has it, without a copy of it.
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
        throw MillraceError(.topics, "the topic is missing", at: topic, remedy: "run `millrace topics apply`")
      }
      positions = Array(repeating: 0, count: count)
    }
    let partitions = positions.indices.map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
    let available = try await log.highWatermarks(of: partitions, timeout: Self.timeout)
    if zip(partitions, positions).contains(where: { available[$0, default: 0..<0].upperBound < $1 }) {
      // Made anew: nothing that was read still stands.
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
