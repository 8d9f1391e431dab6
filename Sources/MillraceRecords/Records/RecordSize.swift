// The size limit of a record. An oversized record would abort its transaction, and every later one with the same
// outcome.

internal import KafkaClient

extension ProducerRecord {
  /// The maximum size of a record in bytes: `max.message.bytes` of Millrace's topics minus Kafka's overhead.
  package static let limit = (4 << 20) - 4_096

  /// The size of key, value and headers, in bytes.
  package var bytes: Int {
    (key?.count ?? 0) + (value?.count ?? 0)
      + headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 10 }
  }

  /// Whether Kafka would reject the record.
  package var isTooLarge: Bool { bytes > Self.limit }
}
