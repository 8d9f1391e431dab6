// What Kafka takes. A record it refuses would abort its transaction, and every one after it that holds the same outcome.

internal import Kafka

extension ProducerRecord {
  /// The most bytes of one record: `max.message.bytes` of Millrace's topics less what Kafka itself adds.
  static let limit = (4 << 20) - 4_096

  /// Its key, value and headers, in bytes.
  var bytes: Int {
    (key?.count ?? 0) + (value?.count ?? 0)
      + headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 10 }
  }

  /// Whether Kafka would refuse it.
  var isTooLarge: Bool { bytes > Self.limit }
}
