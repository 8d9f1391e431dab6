// A record of a topic that all processes share, and that is not what such records are. It harms nobody; somebody should
// know of it all the same.

internal import Kafka
internal import Logging

/// What is wrong with it; quotes nothing of the record.
package struct UnreadableRecord: Error, Sendable, Hashable, CustomStringConvertible {
  package var description: String

  init(_ description: String) { self.description = description }
}

extension WorkerMetrics {
  /// Counts it and says where it stands.
  func unreadable(_ record: ConsumerRecord, because problem: UnreadableRecord, _ logger: Logger) {
    unreadable(topic: record.topic)
    logger.warning(
      "a record that cannot be read was passed over",
      metadata: [
        "record": "\(record.topic)[\(record.partition)]@\(record.offset)", "problem": "\(problem)",
      ])
  }
}
