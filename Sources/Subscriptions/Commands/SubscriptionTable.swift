// Reads rows of the tables from Kafka, for commands.

package import AppStore
internal import KafkaClient
internal import MillraceCore
package import MillraceRecords

/// The tables of the subscriptions worker.
package struct SubscriptionTable: Sendable {
  private let log: any RecordLog
  private let prefix: String

  /// - Parameter prefix: The prefix of every topic's name.
  package init(in log: any RecordLog, prefix: String) { (self.log, self.prefix) = (log, prefix) }

  /// The tables of subscriptions and of purchases.
  package static let topics = [SubscriptionsWorker.subscriptionsTopic, SubscriptionsWorker.purchasesTopic]

  /// Returns the row of a key in the first table that has one; nil if there is none. Reads one partition of each table.
  /// - Parameter topics: The tables, without the deployment's prefix.
  /// - Throws: ``MillraceError`` if a topic is missing; `KafkaError`; `CancellationError`.
  package func row(of id: String, in topics: [String] = topics) async throws -> JSONObject? {
    for name in topics {
      let topic = prefix + name
      let count = try await partitions(of: topic)
      let partition = TopicPartition(topic: topic, partition: Murmur2.partition(of: Array(id.utf8), among: count))
      let row = try await log.fold(partition, upTo: 10_000, into: [UInt8]?.none) { row, page in
        if let last = page.last(where: { $0.key?.elementsEqual(id.utf8) ?? false }) { row = last.value }
      }
      if let row { return try JSONObject(parsing: row) }
    }
    return nil
  }

  /// Returns the rows of subscriptions, in no order. Reads each partition at most once.
  /// - Throws: ``MillraceError`` if the topic is missing; `KafkaError`; `CancellationError`.
  package func rows(of ids: Set<String>) async throws -> [JSONObject] {
    let topic = prefix + SubscriptionsWorker.subscriptionsTopic
    let count = try await partitions(of: topic)
    let partitions = Set(ids.map { Murmur2.partition(of: Array($0.utf8), among: count) })
    let ranges = try await log.highWatermarks(
      of: partitions.map { TopicPartition(topic: topic, partition: $0) }, timeout: .seconds(15))
    let keys = Set(ids.map { Array($0.utf8) })
    let newest = try await log.fold(ranges, upTo: 10_000, into: [[UInt8]: [UInt8]]()) { newest, page in
      for record in page.records {
        if let key = record.key, keys.contains(key) { newest[key] = record.value }
      }
    }
    return try newest.values.map { try JSONObject(parsing: $0) }
  }

  /// Returns a random sample of the rows of an app's subscriptions. Reads the whole table.
  /// - Throws: ``MillraceError`` if the topic is missing; `KafkaError`; `CancellationError`.
  package func sample<Random: RandomNumberGenerator>(
    _ count: Int, of bundleId: String, by random: inout Random
  ) async throws -> [JSONObject] {
    let topic = prefix + SubscriptionsWorker.subscriptionsTopic
    let partitions = (0..<Int32(clamping: try await partitions(of: topic))).map {
      TopicPartition(topic: topic, partition: $0)
    }
    let ranges = try await log.highWatermarks(of: partitions, timeout: .seconds(15))
    let keys = try await log.fold(ranges, upTo: 10_000, into: Set<[UInt8]>()) { keys, page in
      for record in page.records {
        guard let key = record.key else { continue }
        if let value = record.value, try JSONObject(parsing: value)["bundleId"] == .string(bundleId) {
          keys.insert(key)
        } else {
          keys.remove(key)
        }
      }
    }
    let chosen = keys.sorted { $0.lexicographicallyPrecedes($1) }.shuffled(using: &random).prefix(count)
    return try await rows(of: Set(chosen.map { String(decoding: $0, as: UTF8.self) }))
  }

  private func partitions(of topic: String) async throws -> Int {
    guard let count = try await log.partitionCounts(of: [topic], timeout: .seconds(15))[topic] else {
      throw MillraceError(.topics, "the topic is missing", at: topic, remedy: "run `millrace topics apply`")
    }
    return count
  }
}
