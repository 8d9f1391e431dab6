import Kafka
import Testing

/// A member of a group, and the assignments it gets one after the other.
struct GroupMember {
  let consumer: KafkaConsumer
  /// What it was assigned last, in order.
  private(set) var queues: [PartitionQueue] = []
  var partitions: [TopicPartition] { queues.map(\.partition) }

  private var assignments: AsyncStream<[PartitionQueue]>.Iterator

  fileprivate init(_ consumer: KafkaConsumer, _ assignments: AsyncStream<[PartitionQueue]>) {
    self.consumer = consumer
    self.assignments = assignments.makeAsyncIterator()
  }

  /// Waits for the next assignment, which takes the place of the present one.
  mutating func rebalance() async throws {
    queues = try #require(await assignments.next()).sorted { $0.partition < $1.partition }
  }
}

extension Cluster {
  /// Runs a member of a group, from its first assignment on, for the length of `body`. The group is left when `body`
  /// returns.
  /// - Parameters:
  ///   - gate: stands between this member and the brokers.
  ///   - handingOver: what is done with a revocation before it is completed.
  func withMember<Value: Sendable>(
    of group: String, topics: [String], _ properties: [String: String] = [:], gate: NetworkGate? = nil,
    handingOver: @escaping @Sendable (KafkaConsumer, Revocation) async -> Void = { _, _ in },
    _ body: (inout GroupMember) async throws -> Value
  ) async throws -> Value {
    let defaults = [
      "auto.offset.reset": "earliest", "fetch.wait.max.ms": "10", "session.timeout.ms": "6000",
      "heartbeat.interval.ms": "200",
    ]
    var configuration = configuration(defaults.merging(properties) { $1 })
    configuration.gate = gate
    let consumer = try KafkaConsumer(configuration, subscription: .group(group, topics: topics))
    let (assignments, sink) = AsyncStream.makeStream(of: [PartitionQueue].self)
    let serving = Task {
      for await event in consumer.events {
        switch event {
        case .assigned(let queues): sink.yield(queues)
        case .revoked(let revocation):
          await handingOver(consumer, revocation)
          revocation.complete()
        }
      }
      sink.finish()
    }
    let result = await Result {
      try await running(consumer.run, until: consumer.shutDown) {
        var member = GroupMember(consumer, assignments)
        try await member.rebalance()
        return try await body(&member)
      }
    }
    await serving.value
    return try result.get()
  }
}
