import KafkaClient
import Testing

/// A member of a consumer group, and its successive assignments.
struct GroupMember {
  let consumer: KafkaConsumer
  /// The current assignment, sorted by partition.
  private(set) var queues: [PartitionQueue] = []
  var partitions: [TopicPartition] { queues.map(\.partition) }

  private var assignments: AsyncStream<[PartitionQueue]>.Iterator

  fileprivate init(_ consumer: KafkaConsumer, _ assignments: AsyncStream<[PartitionQueue]>) {
    self.consumer = consumer
    self.assignments = assignments.makeAsyncIterator()
  }

  /// Waits for the next assignment, which replaces the current one.
  mutating func rebalance() async throws {
    queues = try #require(await assignments.next()).sorted { $0.partition < $1.partition }
  }
}

extension Cluster {
  /// Runs a group member. Calls `body` after the first assignment and leaves the group when `body` returns.
  /// - Parameters:
  ///   - leaves: Whether a static member leaves the group at the end.
  ///   - gate: Can cut the connection between this member and the brokers.
  ///   - handingOver: Called for a revocation before it is completed.
  func withMember<Value: Sendable>(
    of group: String, topics: [String], _ properties: [String: String] = [:], leaves: Bool = false,
    gate: NetworkFaultInjector? = nil,
    handingOver: @escaping @Sendable (KafkaConsumer, PartitionRevocation) async -> Void = { _, _ in },
    _ body: (inout GroupMember) async throws -> Value
  ) async throws -> Value {
    let defaults = [
      "auto.offset.reset": "earliest", "fetch.wait.max.ms": "10", "session.timeout.ms": "6000",
      "heartbeat.interval.ms": "200",
    ]
    var configuration = configuration(defaults.merging(properties) { $1 })
    configuration.gate = gate
    let consumer = try KafkaConsumer(
      configuration, subscription: .group(group, topics: topics), staticMemberLeaves: leaves)
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
