// Copies records to other topics, and remembers how far: a part of `millrace topics relane`.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker

/// Partitions, and the copies of their records.
struct LaneCopy: Sendable {
  static let timeout = Duration.seconds(15)
  static let pageSize = 1_000

  /// The records that have copies which are not written yet.
  struct Rest: Sendable {
    var count = 0
    /// When the oldest of them was written.
    var since: Timestamp?
  }

  var partitions: [TopicPartition]
  /// The positions of the first copies; nil: the oldest records.
  var starts: [CommittedOffset]?
  /// Returns the copies of a record.
  var targets: @Sendable (ConsumerRecord) throws -> [ProducerRecord]

  /// Returns the offsets that were not copied yet.
  func ranges(
    _ progress: any LogReader, _ log: any RecordLog
  ) async throws -> [(partition: TopicPartition, offsets: Range<Int64>)] {
    guard !partitions.isEmpty else { return [] }
    let before = try await progress.committed(partitions, timeout: Self.timeout)
    let held = try await log.highWatermarks(of: partitions, timeout: Self.timeout)
    return partitions.map { partition in
      let position = before.first { $0.partition == partition } ?? starts?.first { $0.partition == partition }
      let range = held[partition] ?? 0..<0
      let start = min(max(position?.offset ?? range.lowerBound, range.lowerBound), range.upperBound)
      return (partition, start..<range.upperBound)
    }
  }

  /// Returns the records that still have to be copied.
  func rest(_ progress: any LogReader, _ log: any RecordLog) async throws -> Rest {
    var rest = Rest()
    for (partition, range) in try await ranges(progress, log) where !range.isEmpty {
      rest = try await log.fold(
        partition, from: .offset(range.lowerBound), to: .offset(range.upperBound), upTo: Self.pageSize, into: rest
      ) { rest, page in
        for record in page where try !targets(record).isEmpty {
          rest.count += 1
          let time = record.timestamp.map { Timestamp(millisecondsSince1970: $0) }
          rest.since = [rest.since, time].compactMap(\.self).min()
        }
      }
    }
    return rest
  }
}

/// Writes copies. A copy and the position behind it are one transaction of Kafka.
struct LaneCopier: Sendable {
  /// The most bytes in one transaction, except that one record may be larger.
  private static let transactionBytes = 4 << 20

  let log: any RecordLog
  let writer: ReplayWriter
  let progress: any LogReader
  let group: GroupMetadata

  /// Copies partitions from where an earlier program ended.
  /// - Returns: The number of records that have a copy.
  func copy(_ part: LaneCopy) async throws -> Int {
    let count = Counter()
    let ranges = try await part.ranges(progress, log).filter { !$0.offsets.isEmpty }
    for (partition, range) in ranges {
      try await log.scan(
        partition, from: .offset(range.lowerBound), to: .offset(range.upperBound), upTo: LaneCopy.pageSize
      ) { page in
        var (copies, bytes, copied) = ([ProducerRecord](), 0, 0)
        for (index, record) in page.enumerated() {
          let own = try part.targets(record)
          copied += own.isEmpty ? 0 : 1
          bytes += own.count * ((record.key?.count ?? 0) + (record.value?.count ?? 0))
          copies += own
          guard bytes >= Self.transactionBytes || index == page.count - 1, !copies.isEmpty else { continue }
          try await writer.write(
            copies, committing: [CommittedOffset(partition, offset: record.offset + 1)], of: group)
          await count.add(copied)
          (copies, bytes, copied) = ([], 0, 0)
        }
      }
    }
    if !ranges.isEmpty {
      // The last records may have no copy.
      let ends = ranges.map { CommittedOffset($0.partition, offset: $0.offsets.upperBound) }
      try await writer.write([], committing: ends, of: group)
    }
    return await count.value
  }

  /// Stores that copies to topics begin. Kafka removes these offsets if a topic is deleted.
  func begin(_ targets: [TopicPartition], metadata: String) async throws {
    let marks = Set(targets).sorted().map { CommittedOffset($0, offset: 0, metadata: metadata) }
    try await writer.write([], committing: marks, of: group)
  }

  /// Stores that everything of a worker was copied.
  func finish(_ ledger: TopicPartition, metadata: String) async throws {
    let end = try await progress.committed([ledger], timeout: LaneCopy.timeout).first?.offset ?? 0
    try await writer.write([], committing: [CommittedOffset(ledger, offset: end, metadata: metadata)], of: group)
  }
}

private actor Counter {
  private(set) var value = 0
  func add(_ count: Int) { value += count }
}
