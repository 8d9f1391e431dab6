// Observes topics as an outside reader while other processes write them.

package import KafkaClient
internal import MillraceRecords
internal import Synchronization

/// A state that follows from the records of topics.
package protocol TopicView: Sendable {
  /// Adds a record.
  mutating func add(_ record: ConsumerRecord)
}

/// Keeps a ``TopicView`` up to date, which any task can read.
@dynamicMemberLookup
package final class TopicObserver<View: TopicView>: Sendable {
  private let view: Mutex<View>

  package init(_ view: View) { self.view = Mutex(view) }

  package subscript<Value: Sendable>(dynamicMember path: KeyPath<View, Value>) -> Value {
    view.withLock { $0[keyPath: path] }
  }

  /// Changes the view.
  package func update(_ change: (inout View) -> Void) { view.withLock { change(&$0) } }

  /// Adds records.
  package func take(_ records: [ConsumerRecord]) {
    view.withLock { view in for record in records { view.add(record) } }
  }

  /// Reads topics from the beginning until cancelled.
  package func follow(_ topics: [String], of deployment: Deployment) async throws {
    let partitions = try await deployment.log.partitions(of: topics)
    let consumer = try KafkaConsumer(
      deployment.kafka,
      subscription: .partitions(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .earliest) })))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await consumer.run() }
      for await event in consumer.events {
        guard case .assigned(let queues) = event else { continue }
        for queue in queues {
          group.addTask {
            while true {
              let batch = try await queue.nextBatch(upTo: 1_000)
              guard !batch.isEmpty else { return }
              self.take(batch)
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

extension KafkaConfiguration {
  /// The same client with a short fetch wait, because the embedded cluster answers an idle fetch only after that wait.
  package var eager: KafkaConfiguration {
    var kafka = self
    kafka.properties["fetch.wait.max.ms"] = "10"
    return kafka
  }
}
