import Kafka
import Testing

/// A member of a group, and the assignments it gets one after the other.
struct GroupMember {
  let consumer: KafkaConsumer
  fileprivate var assignments: AsyncStream<[PartitionQueue]>.Iterator

  /// The next assignment: all that this member has, or with a cooperative protocol what is new.
  mutating func nextAssignment() async throws -> [PartitionQueue] { try #require(await assignments.next()) }
}

extension Cluster {
  /// Runs a member of a group, from its first assignment on, for the length of `body`. The group is left when `body`
  /// returns.
  /// - Parameter handingOver: what is done with a revocation before it is completed.
  func withMember<Value: Sendable>(
    of group: String, topic: String, _ properties: [String: String] = [:],
    handingOver: @escaping @Sendable (KafkaConsumer, Revocation) async -> Void = { _, _ in },
    _ body: (inout GroupMember) async throws -> Value
  ) async throws -> Value {
    let defaults = [
      "auto.offset.reset": "earliest", "fetch.wait.max.ms": "10", "session.timeout.ms": "6000",
      "heartbeat.interval.ms": "200",
    ]
    let consumer = try KafkaConsumer(
      configuration(defaults.merging(properties) { $1 }), subscription: .group(group, topics: [topic]))
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
        var member = GroupMember(consumer: consumer, assignments: assignments.makeAsyncIterator())
        _ = try await member.nextAssignment()
        return try await body(&member)
      }
    }
    await serving.value
    return try result.get()
  }
}
