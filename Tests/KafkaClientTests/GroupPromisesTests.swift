import Testing

@testable import KafkaClient

/// Tests consumer groups on a real cluster. The embedded cluster ignores static membership, and each of its rebalances
/// takes a session timeout.
@Suite(.timeLimit(.minutes(15)), .onRealCluster) struct GroupPromisesTests {
  private let cluster = RealCluster()
  private let limit = Duration.seconds(30)

  @Test func `the range assignor gives partition p of every topic to one member`() async throws {
    let topics = ["\(cluster.prefix).a", "\(cluster.prefix).b", "\(cluster.prefix).c"]
    for topic in topics { try await cluster.createTopic(topic, partitions: 4) }
    try await cluster.withMember(of: cluster.prefix, topics: topics) { (first) async throws in
      #expect(first.partitions.count == 12)
      try await cluster.withMember(of: cluster.prefix, topics: topics) { (second) async throws in
        try await first.rebalance()
        #expect(Set(first.partitions).isDisjoint(with: second.partitions))
        for member in [first, second] {
          let numbers = Set(member.partitions.map(\.partition))
          #expect(numbers.count == 2)
          let all = topics.flatMap { topic in numbers.map { TopicPartition(topic: topic, partition: $0) } }
          #expect(member.partitions == all.sorted())
        }
      }
      // The second member has left, so the first gets all partitions back.
      try await first.rebalance()
      #expect(first.partitions.count == 12)
    }
  }

  @Test func `a successor starts at the offsets that a member commits during its revocation`() async throws {
    try await cluster.createTopic(partitions: 2)
    try await cluster.withProducer { producer in
      for partition in 0..<2 as Range<Int32> {
        for index in 0..<10 { _ = try await producer.send(cluster.record("\(index)", to: partition)) }
      }
    }
    let topics = [cluster.topic]
    try await cluster.withMember(of: cluster.prefix, topics: topics) { (consumer, revocation) in
      let offsets = revocation.partitions.map { CommittedOffset($0, offset: 4, metadata: "handed over") }
      let failure = await failure { try await consumer.commit(offsets) }
      #expect(!revocation.isLost && failure == nil)
    } _: { (first) async throws in
      try await cluster.withMember(of: cluster.prefix, topics: topics) { (second) async throws in
        try await first.rebalance()
        for queue in first.queues + second.queues {
          #expect(try await queue.nextBatch(upTo: 1).map(\.offset) == [4], "\(queue.partition)")
        }
        let committed = try await second.consumer.committed([cluster[0], cluster[1]], timeout: limit)
        #expect(committed.map(\.offset) == [4, 4])
        #expect(committed.map(\.metadata) == ["handed over", "handed over"])
      }
    }
  }

  @Test func `a static member that restarts gets its partitions back without a rebalance`() async throws {
    try await cluster.createTopic(partitions: 2)
    let topics = [cluster.topic]
    try await cluster.withMember(
      of: cluster.prefix, topics: topics, ["group.instance.id": "a"]
    ) { (steady) async throws in
      let before = try await cluster.withMember(
        of: cluster.prefix, topics: topics, ["group.instance.id": "b"]
      ) { (restarted) async throws in
        try await steady.rebalance()
        return restarted.partitions
      }
      let generation = try await steady.consumer.groupMetadata()
      try await cluster.withMember(
        of: cluster.prefix, topics: topics, ["group.instance.id": "b"]
      ) { (restarted) async throws in
        #expect(restarted.partitions == before)
        // The generation is unchanged, so there was no rebalance.
        #expect(try await steady.consumer.groupMetadata() == generation)
        try await steady.consumer.commit(steady.partitions.map { CommittedOffset($0, offset: 0) })
      }
    }
  }

  @Test func `the partitions of a static member that leaves go to the others after its commit`() async throws {
    try await cluster.createTopic(partitions: 2)
    let topics = [cluster.topic]
    // Longer than the test may take. If the group kept the membership, the other member would wait too long.
    let name = ["group.instance.id": "b", "session.timeout.ms": "1800000", "max.poll.interval.ms": "1800000"]
    try await cluster.withMember(
      of: cluster.prefix, topics: topics, ["group.instance.id": "a"]
    ) { (steady) async throws in
      try await cluster.withMember(of: cluster.prefix, topics: topics, name, leaves: true) { consumer, revocation in
        let offsets = revocation.partitions.map { CommittedOffset($0, offset: 7) }
        let failure = await failure { try await consumer.commit(offsets) }
        #expect(failure == nil)
      } _: { (leaving) async throws in
        try await steady.rebalance()
        #expect(steady.partitions.count == 1 && leaving.partitions.count == 1)
      }
      try await steady.rebalance()
      #expect(steady.partitions.count == 2)
      let committed = try await steady.consumer.committed([cluster[0], cluster[1]], timeout: limit)
      #expect(committed.map(\.offset) == [7])
    }
  }

  @Test func `a static member that returns with more topics gets partitions of all of them`() async throws {
    let topics = ["\(cluster.prefix).a", "\(cluster.prefix).b"]
    for topic in topics { try await cluster.createTopic(topic, partitions: 2) }
    try await cluster.withMember(
      of: cluster.prefix, topics: topics, ["group.instance.id": "a"]
    ) { (steady) async throws in
      try await cluster.withMember(
        of: cluster.prefix, topics: [topics[0]], ["group.instance.id": "b"]
      ) { (restarted) async throws in
        try await steady.rebalance()
        #expect(restarted.partitions.map(\.topic) == [topics[0]])
      }
      try await cluster.withMember(
        of: cluster.prefix, topics: topics, ["group.instance.id": "b"]
      ) { (restarted) async throws in
        if Set(restarted.partitions.map(\.topic)).count < 2 { try await restarted.rebalance() }
        #expect(Set(restarted.partitions.map(\.topic)) == Set(topics))
      }
    }
  }

  @Test func `a disconnected member loses its partitions and cannot commit for them`() async throws {
    try await cluster.createTopic(partitions: 1)
    let topics = [cluster.topic]
    let gate = NetworkFaultInjector()
    let (losses, sink) = AsyncStream.makeStream(of: Bool.self)
    try await cluster.withMember(of: cluster.prefix, topics: topics, gate: gate) { _, revocation in
      sink.yield(revocation.isLost)
    } _: { (zombie) async throws in
      let past = try await zombie.consumer.groupMetadata()
      gate.close()
      try await cluster.withMember(of: cluster.prefix, topics: topics) { (successor) async throws in
        #expect(successor.partitions == [cluster[0]])
        let offset = [CommittedOffset(cluster[0], offset: 0)]
        try await cluster.withTransactions(as: cluster.prefix) { producer in
          try await producer.begin()
          let error = await #expect(throws: KafkaError.self) {
            try await producer.sendOffsets(offset, group: past, timeout: limit)
          }
          #expect(error?.transactionRemedy == .abort)
          try await producer.abort(timeout: limit)
        }
        try await successor.consumer.commit(offset)
        gate.open()
        var iterator = losses.makeAsyncIterator()
        #expect(await iterator.next() == true)
      }
    }
  }
}
