// A compacted topic of any size, looked up by key. The position of each key's newest record is in memory; the values
// stay in Kafka. An index of a million customers takes megabytes of memory.

internal import KafkaClient
internal import MillraceCore
package import MillraceRecords

/// An index of a compacted topic.
///
/// Every process reads the whole topic: from the beginning at the first lookup, and from there on at each further one.
/// Each key takes 32 bytes of memory, at most 90 with the free capacity of the hash table.
public struct CompactedTopicIndex: Sendable {
  private struct Place: Sendable, Hashable {
    var partition: Int32
    var offset: Int64
  }

  private let table: TopicTable<[LedgerKey: Place]>
  private let log: any RecordLog

  /// The maximum number of lookups for one call. A record that is no longer at its position has been superseded
  /// meanwhile.
  private static let mostLooks = 4

  /// Creates an empty index.
  /// - Parameter topic: The topic's name in Kafka.
  package init(_ topic: String, in log: any RecordLog) {
    self.log = log
    table = TopicTable(topic, in: log, [:]) { places, record in
      guard let key = record.key else { return }
      places[LedgerKey(hashing: key)] = record.value.map { _ in
        Place(partition: record.partition, offset: record.offset)
      }
    }
  }

  /// Reads all records that are committed now.
  /// - Returns: The number of keys.
  /// - Throws: `KafkaError`; ``MillraceError`` if the topic is missing.
  @discardableResult
  public func refresh() async throws -> Int { try await table.reading { $0.count } }

  /// Returns the newest value of the first of these keys that is in the topic, as committed before the call. Returns
  /// nil if none of the keys is in the topic.
  /// - Throws: `KafkaError`; ``MillraceError`` if the topic is missing, or is compacted faster than it can be read.
  public func first(of keys: [[UInt8]]) async throws -> [UInt8]? {
    let names = keys.map { LedgerKey(hashing: $0) }
    for _ in 0..<Self.mostLooks {
      guard let place = try await table.reading({ table in names.lazy.compactMap { table[$0] }.first }) else {
        return nil
      }
      let partition = TopicPartition(topic: table.topic, partition: place.partition)
      if let record = try await log.record(at: place.offset, of: partition) { return record.value }
    }
    throw MillraceError(
      .topics, "the newest record of a key was superseded during each of \(Self.mostLooks) lookups", at: table.topic,
      remedy: "find the producer that writes one key many times a second")
  }
}
