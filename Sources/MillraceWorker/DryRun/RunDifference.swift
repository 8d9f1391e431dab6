// How the outcome of a record differs from the one that is in Kafka.

package import AppStore
package import KafkaClient
internal import MillraceRecords
internal import MillraceTime

/// The events and rows of a record before and after a run.
package struct RunDifference: Sendable, Hashable {
  /// An event, a row or a dead letter.
  package struct Entry: Sendable, Hashable {
    package var topic: String
    package var key: [UInt8]
    /// The type of an event, or the reason of a dead letter; nil for a row.
    package var type: String?
    package var value: [UInt8]?

    init(topic: String, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) {
      (self.topic, self.key, self.value) = (topic, key ?? [], value)
      type = headers.text("ce_type")
      if let letter = DeadLetter(headers) { (type, self.value) = ("\(letter.reason): \(letter.detail)", nil) }
    }

    init(_ record: ProducerRecord) {
      self.init(topic: record.topic, key: record.key, value: record.value, headers: record.headers)
    }

    init(_ record: ConsumerRecord) {
      self.init(topic: record.topic, key: record.key, value: record.value, headers: record.headers)
    }

    /// The entry on one line.
    package var text: String {
      let words = [
        topic, String(decoding: key, as: UTF8.self), type, value.map { String(decoding: $0, as: UTF8.self) },
      ]
      return words.compactMap(\.self).joined(separator: " ")
    }
  }

  /// `ce_id` of the notification.
  package var notification: String
  /// The position where it was first read.
  package var position: RecordPosition
  /// When it was first written.
  package var written: Timestamp
  package var ending: RunOutcome.Ending
  package var old: [Entry] = []
  package var new: [Entry]

  /// The entries as a diff: those that only one of the outcomes has.
  package var lines: [String] {
    old.filter { !new.contains($0) }.map { "- \($0.text)" } + new.filter { !old.contains($0) }.map { "+ \($0.text)" }
  }

  /// The difference as JSON.
  package var json: JSONObject {
    [
      "notification": .string(notification), "position": .string("\(position)"), "ending": .string(ending.rawValue),
      "diff": .array(lines.map { .string($0) }),
    ]
  }

  /// Adds what is in Kafka: the last events of each notification, and the last value of each row.
  /// - Throws: `KafkaError`.
  static func completed(
    _ differences: [RunDifference], _ topics: WorkerTopics, from log: any RecordLog
  ) async throws -> [RunDifference] {
    guard let oldest = differences.map(\.written).min() else { return [] }
    let ids = Set(differences.map(\.notification))
    // An event that was superseded names the same first event as its successor.
    let events = try await log.fold([topics.events], since: oldest, by: .system, into: [String: [String: Entry]]()) {
      found, record in
      guard let id = record.headers.text("ce_notificationid"), ids.contains(id),
        let first = record.headers.text("ce_supersedes") ?? record.headers.text("ce_id")
      else { return }
      found[id, default: [:]][first] = Entry(record)
    }
    let rows = differences.flatMap(\.new).filter { topics.outputTopics.contains($0.topic) }
    let counts = try await log.partitionCounts(of: Array(Set(rows.map(\.topic))), timeout: .seconds(30))
    var wanted: [TopicPartition: Set<[UInt8]>] = [:]
    for row in rows {
      let partition = Murmur2.partition(of: row.key, among: counts[row.topic] ?? 1)
      wanted[TopicPartition(topic: row.topic, partition: partition), default: []].insert(row.key)
    }
    var values: [String: [[UInt8]: Entry]] = [:]
    for (partition, keys) in wanted {
      values[partition.topic, default: [:]].merge(
        try await log.fold(partition, into: [:]) { found, page in
          for record in page {
            if let key = record.key, keys.contains(key) { found[key] = Entry(record) }
          }
        }
      ) { $1 }
    }
    return differences.map { difference in
      var difference = difference
      let old = (events[difference.notification] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
      difference.old = old + difference.new.compactMap { values[$0.topic]?[$0.key] }
      return difference
    }
  }
}

extension [RecordHeader] {
  /// The value of a header as text.
  fileprivate func text(_ name: String) -> String? {
    last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
  }
}
