// Reads records while other processes write them.

package import KafkaClient

extension KafkaConfiguration {
  /// Reads partitions from the beginning until cancelled, with one client.
  /// - Parameter take: Called with records, in order within a partition and concurrently across partitions.
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

  /// The same client with a short fetch wait, because the embedded cluster answers an idle fetch only after that wait.
  package var eager: KafkaConfiguration {
    var kafka = self
    kafka.properties["fetch.wait.max.ms"] = "10"
    return kafka
  }
}
