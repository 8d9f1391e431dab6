// Replays records to a worker, with the same result as `millrace replay`.

public import KafkaClient
public import MillraceRecords

extension InMemoryLog {
  /// Sends all records of a worker's input topics to its replay topic, in order.
  /// - Parameter reapply: Whether handlers run again for notifications that are done.
  /// - Returns: The number of records.
  @discardableResult
  public func replay(to topics: WorkerTopics, reapply: Bool = false) throws(KafkaError) -> Int {
    var count = 0
    // A run of its own, or a second reapply would be one that has been carried out.
    let run = "again-\(records(in: topics.replay).count)"
    for topic in topics.inputs {
      for record in records(in: topic) {
        count += 1
        try append(
          ProducerRecord(
            topic: topics.replay, partition: record.partition, key: record.key, value: record.value,
            headers: record.headers + [
              RecordHeader("ce_replayid", run),
              RecordHeader("millrace-replay-mode", reapply ? "reapply" : "plain"),
              RecordHeader("millrace-first-topic", record.topic),
              RecordHeader("millrace-first-partition", String(record.partition)),
              RecordHeader("millrace-first-offset", String(record.offset)),
              RecordHeader("millrace-first-timestamp", String(record.timestamp ?? 0)),
            ]))
      }
    }
    return count
  }
}
