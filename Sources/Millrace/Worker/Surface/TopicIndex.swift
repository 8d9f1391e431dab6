// A compacted topic of any size, looked up by key: where each key's newest record stands is in memory, what it says is in
// Kafka. A table of a million customers costs a worker megabytes, and what is said of them stays where it is.

internal import Kafka

/// A compacted topic, looked up by key.
///
/// The topic is read whole by every process, from its beginning at the first question and on from there at each further
/// one. Memory is 32 bytes for each key, at most 90 with the room that a table keeps to grow.
public struct TopicIndex: Sendable {
  private struct Place: Sendable, Hashable {
    var partition: Int32
    var offset: Int64
  }

  private let table: TopicTable<[LedgerKey: Place]>
  private let log: any RecordLog

  /// A record that is not where it was has been superseded meanwhile; more often than this it is not looked for.
  private static let mostLooks = 4

  /// An index nothing of which is read yet.
  /// - Parameter topic: The topic's name in Kafka.
  public init(_ topic: String, in log: any RecordLog) {
    self.log = log
    table = TopicTable(topic, in: log, [:]) { places, record in
      guard let key = record.key else { return }
      places[LedgerKey(hashing: key)] = record.value.map { _ in
        Place(partition: record.partition, offset: record.offset)
      }
    }
  }

  /// Reads what there is.
  /// - Returns: how many keys there are.
  /// - Throws: `KafkaError`; ``MillraceError`` where the topic is missing.
  @discardableResult
  public func refresh() async throws -> Int { try await table.reading { $0.count } }

  /// What the newest record says of the first of these keys that has one, as of what was committed before the call; nil
  /// where none has, or it was removed.
  /// - Throws: `KafkaError`; ``MillraceError`` where the topic is missing or is compacted faster than it can be read.
  public func first(of keys: [[UInt8]]) async throws -> [UInt8]? {
    let names = keys.map { LedgerKey(hashing: $0) }
    for _ in 0..<Self.mostLooks {
      guard let place = try await table.reading({ table in names.lazy.compactMap { table[$0] }.first }) else {
        return nil
      }
      let found = FoundRecord()
      try await log.scan(
        TopicPartition(topic: table.topic, partition: place.partition), from: .offset(place.offset),
        to: .offset(place.offset + 1), upTo: 1
      ) { page in await found.take(page) }
      if let record = await found.record, record.offset == place.offset { return record.value }
    }
    throw MillraceError(
      .topics, "a record is gone whenever it is looked for", at: table.topic,
      remedy: "see who writes one key many times a second")
  }
}

/// What a scan of one offset brought.
private actor FoundRecord {
  private(set) var record: ConsumerRecord?

  func take(_ page: [ConsumerRecord]) { record = page.first ?? record }
}
