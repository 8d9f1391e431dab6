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

  /// Returns the row of a subscription, or else of a purchase; nil if there is none. Reads one partition of each table.
  /// - Throws: ``MillraceError`` if a topic is missing; `KafkaError`; `CancellationError`.
  package func row(of id: String) async throws -> JSONObject? {
    for name in [SubscriptionsWorker.subscriptionsTopic, SubscriptionsWorker.purchasesTopic] {
      let topic = prefix + name
      let count = try await partitions(of: topic)
      let partition = TopicPartition(topic: topic, partition: Murmur2.partition(of: Array(id.utf8), among: count))
      let found = LastRow()
      try await log.scan(partition, from: .earliest, to: .highWatermark, upTo: 10_000) { records in
        if let last = records.last(where: { $0.key?.elementsEqual(id.utf8) ?? false }) { await found.set(last.value) }
      }
      if let row = await found.value { return try JSONObject(parsing: row) }
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
    let newest = NewestRows()
    try await log.scan(ranges, where: nil, upTo: 10_000) { page in
      await newest.apply(page.records.filter { $0.key.map(keys.contains) ?? false })
    }
    return try await newest.values.values.map { try JSONObject(parsing: $0) }
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
    let names = KnownKeys()
    let ranges = try await log.highWatermarks(of: partitions, timeout: .seconds(15))
    try await log.scan(ranges, where: nil, upTo: 10_000) { page in try await names.apply(page.records, of: bundleId) }
    let chosen = await names.keys.sorted { $0.lexicographicallyPrecedes($1) }.shuffled(using: &random).prefix(count)
    return try await rows(of: Set(chosen.map { String(decoding: $0, as: UTF8.self) }))
  }

  private func partitions(of topic: String) async throws -> Int {
    guard let count = try await log.partitionCounts(of: [topic], timeout: .seconds(15))[topic] else {
      throw MillraceError(.topics, "the topic is missing", at: topic, remedy: "run `millrace topics apply`")
    }
    return count
  }
}

private actor LastRow {
  private(set) var value: [UInt8]?
  func set(_ value: [UInt8]?) { self.value = value }
}

/// The newest value of each key.
private actor NewestRows {
  private(set) var values: [[UInt8]: [UInt8]] = [:]

  func apply(_ records: [ConsumerRecord]) {
    for record in records {
      if let key = record.key { values[key] = record.value }
    }
  }
}

/// The keys that have a value.
private actor KnownKeys {
  private(set) var keys: Set<[UInt8]> = []

  func apply(_ records: [ConsumerRecord], of bundleId: String) throws {
    for record in records {
      guard let key = record.key else { continue }
      if let value = record.value, try JSONObject(parsing: value)["bundleId"] == .string(bundleId) {
        keys.insert(key)
      } else {
        keys.remove(key)
      }
    }
  }
}
