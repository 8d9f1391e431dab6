// Reading along while processes write.

package import Kafka

extension KafkaConfiguration {
  /// Reads partitions from their beginning until cancelled, with one client.
  /// - Parameter take: Called with the records of one partition in order, with different partitions at the same time.
  package func follow(
    _ partitions: [TopicPartition], _ take: @escaping @Sendable ([ConsumerRecord]) -> Void
  ) async throws {
    let consumer = try KafkaConsumer(
      self, subscription: .partitions(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .earliest) })))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await consumer.run() }
      for await event in consumer.events {
        guard case .assigned(let queues) = event else { continue }
        for queue in queues {
          group.addTask {
            while true {
              let batch = try await queue.nextBatch(upTo: 1_000)
              guard !batch.isEmpty else { return }
              take(batch)
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// The same client for the embedded cluster, which answers an idle fetch only when its wait is over.
  package var eager: KafkaConfiguration {
    var kafka = self
    kafka.properties["fetch.wait.max.ms"] = "10"
    return kafka
  }
}
