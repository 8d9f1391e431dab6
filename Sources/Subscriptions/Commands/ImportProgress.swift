// Watches which requests of an import the worker has not answered. Other records that wait in the same topics do not count:
// a notification can wait there for hours.

package import KafkaClient
package import MillraceRecords
package import MillraceTime

/// The unanswered requests of one import.
package actor ImportProgress {
  /// Returns the offsets that the worker's group has committed.
  package typealias Committed = @Sendable ([TopicPartition]) async throws -> [CommittedOffset]

  private let log: any RecordLog
  private let topics: [String]
  private let committed: Committed
  private let ids: Set<String>
  /// The offset from which the next look at a partition reads.
  private var next: [TopicPartition: Int64] = [:]
  /// The offsets of requests that were not finished at the last look, in order.
  private var waiting: [TopicPartition: [Int64]] = [:]

  private static let timeout = Duration.seconds(15)
  private static let interval = Duration.seconds(2)
  private static let pageSize = 1_000

  /// - Parameters:
  ///   - ids: The ids of the requests.
  ///   - topics: The topics in which requests wait; see ``SubscriptionImport/topics(of:prefix:)``.
  package init(of ids: Set<String>, in topics: [String], of log: any RecordLog, committed: @escaping Committed) {
    (self.ids, self.topics, self.log, self.committed) = (ids, topics, log, committed)
  }

  /// Returns the number of requests that the worker has not answered, with those that it has made itself for them.
  /// - Throws: `KafkaError`; `CancellationError`.
  package func remaining() async throws -> Int {
    let partitions = try await log.partitions(of: topics, timeout: Self.timeout)
    // The worker moves a request to a retry topic in the transaction that commits its old offset. Offsets that are read
    // before the ends leave it in at least one of the two ranges.
    let offsets = Dictionary(try await committed(partitions).map { ($0.partition, $0.offset) }) { $1 }
    var unread: [TopicPartition: Range<Int64>] = [:]
    for (partition, range) in try await log.highWatermarks(of: partitions, timeout: Self.timeout) {
      let open = max(offsets[partition] ?? 0, range.lowerBound)
      waiting[partition]?.removeAll { $0 < open }
      let start = max(next[partition] ?? 0, open)
      if start < range.upperBound { unread[partition] = start..<range.upperBound }
    }
    let filter = HeaderFilter(["ce_type": [Array((ImportRecord.typePrefix + ImportRecord.typeName).utf8)]])
    try await log.scan(unread, where: filter, upTo: Self.pageSize) { page in await self.apply(page) }
    for (partition, range) in unread { next[partition] = range.upperBound }
    return waiting.values.reduce(0) { $0 + $1.count }
  }

  private func apply(_ page: ScanPage) {
    let own = page.records.filter { record in
      record.headers.contains { header in
        guard header.name == "ce_id" || header.name == ImportRecord.causeHeader, let id = header.value else {
          return false
        }
        return ids.contains(String(decoding: id, as: UTF8.self))
      }
    }
    if !own.isEmpty { waiting[page.partition, default: []] += own.map(\.offset) }
  }

  /// Returns once the worker has answered every request.
  /// - Parameter note: Receives the progress, for people.
  /// - Throws: The errors of ``remaining()``.
  package func watch(clock: MillraceClock, note: @Sendable (String) -> Void) async throws {
    let total = ids.count
    var fewest: Int?
    while true {
      let left = try await remaining()
      guard left > 0 else { return note("The worker has asked about all \(total) ids.") }
      // The worker makes requests of its own, so that the number can grow again.
      if fewest.map({ left < $0 }) ?? true {
        note("\(max(0, total - left)) of \(total) asked")
        fewest = left
      }
      try await clock.sleep(until: clock.now.advanced(by: Self.interval))
    }
  }
}
