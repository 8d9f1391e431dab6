// A record in a shared topic that cannot be parsed. Readers skip it, but an operator should know about it.

internal import KafkaClient
internal import Logging

/// The reason why a record cannot be parsed. It never quotes the record.
package struct UnreadableRecord: Error, Sendable, Hashable, CustomStringConvertible {
  package var description: String

  init(_ description: String) { self.description = description }
}

extension WorkerMetrics {
  /// Counts a record that cannot be read and logs its position.
  func unreadable(_ record: ConsumerRecord, because problem: UnreadableRecord, _ logger: Logger) {
    unreadable(topic: record.topic)
    logger.warning(
      "a record that cannot be read was passed over",
      metadata: [
        "record": "\(record.topic)[\(record.partition)]@\(record.offset)", "problem": "\(problem)",
      ])
  }
}
