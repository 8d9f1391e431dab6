// What `millrace replay` has a worker do to itself, without the worker's part in it.

public import Kafka
public import Millrace

extension InMemoryLog {
  /// Sends everything that stands in a worker's topics to it once more, in its order.
  /// - Parameter reapply: Whether handlers run again for what is done.
  /// - Returns: how many records that were.
  @discardableResult
  public func replay(to topics: WorkerTopics, reapply: Bool = false) throws(KafkaError) -> Int {
    var count = 0
    for topic in topics.inputs {
      for record in records(in: topic) {
        count += 1
        try append(
          ProducerRecord(
            topic: topics.replay, partition: record.partition, key: record.key, value: record.value,
            headers: record.headers + [
              RecordHeader("ce_replayid", "again"),
              RecordHeader("millrace-replay-mode", reapply ? "reapply" : "plain"),
            ]))
      }
    }
    return count
  }
}
