import Testing

@testable import KafkaClient

/// Tests the guarantees of transactions on a real cluster.
@Suite(.timeLimit(.minutes(15)), .onRealCluster) struct TransactionPromisesTests {
  private let cluster = RealCluster()
  private let limit = Duration.seconds(30)

  /// Returns the range of offsets that a `read_committed` reader can see.
  private func visible(_ partition: TopicPartition) async throws -> Range<Int64> {
    let consumer = try KafkaConsumer(cluster.configuration, subscription: .partitions([:]))
    return try await consumer.watermarks(of: partition, timeout: limit)
  }

  @Test func `an open transaction and all later records are hidden until it commits`() async throws {
    try await cluster.createTopic(partitions: 1)
    try await cluster.withTransactions(as: cluster.prefix) { producer in
      try await producer.begin()
      _ = try await producer.send(cluster.record("inside"))
      try await cluster.withProducer { plain in _ = try await plain.send(cluster.record("behind")) }
      #expect(try await visible(cluster[0]) == 0..<0)
      try await producer.commit(timeout: limit)
    }
    let records = try await cluster.read(2, from: cluster[0])
    #expect(records.map(\.text) == ["inside", "behind"])
  }

  @Test func `the records of an aborted transaction stay hidden and can be written again`() async throws {
    try await cluster.createTopic(partitions: 2)
    try await cluster.withTransactions(as: cluster.prefix) { producer in
      try await producer.begin()
      _ = try await producer.send(cluster.record("first try", to: 0))
      _ = try await producer.send(cluster.record("first try", to: 1))
      try await producer.abort(timeout: limit)
      try await producer.begin()
      _ = try await producer.send(cluster.record("second try", to: 0))
      _ = try await producer.send(cluster.record("second try", to: 1))
      try await producer.commit(timeout: limit)
    }
    for partition in 0..<2 as Range<Int32> {
      #expect(try await cluster.read(1, from: cluster[partition]).map(\.text) == ["second try"])
    }
  }

  @Test func `a newer instance fences the older one, whose transaction stays hidden`() async throws {
    try await cluster.createTopic(partitions: 1)
    let end = await failure {
      try await cluster.withTransactions(as: cluster.prefix) { zombie in
        try await zombie.begin()
        _ = try await zombie.send(cluster.record("zombie"))
        try await cluster.withTransactions(as: cluster.prefix) { successor in
          let error = await #expect(throws: KafkaError.self) { try await zombie.commit(timeout: limit) }
          #expect(error?.code == .fenced)
          #expect(error?.transactionRemedy == .replace)
          try await successor.begin()
          _ = try await successor.send(cluster.record("successor"))
          try await successor.commit(timeout: limit)
        }
      }
    }
    #expect((end as? KafkaError)?.isFatal == true)
    #expect(try await cluster.read(1, from: cluster[0]).map(\.text) == ["successor"])
  }

  @Test func `offsets take effect when their transaction commits, not when it aborts`() async throws {
    try await cluster.createTopic(partitions: 1)
    let partition = cluster[0]
    try await cluster.withMember(of: cluster.prefix, topics: [cluster.topic]) { (member) async throws in
      let consumer = member.consumer
      try await cluster.withTransactions(as: cluster.prefix) { producer in
        try await producer.begin()
        try await producer.sendOffsets(
          [CommittedOffset(partition, offset: 7)], group: try await consumer.groupMetadata(), timeout: limit)
        try await producer.abort(timeout: limit)
        #expect(try await consumer.committed([partition], timeout: limit) == [])

        let offset = CommittedOffset(partition, offset: 5, metadata: "five")
        try await producer.begin()
        _ = try await producer.send(cluster.record("derived"))
        try await producer.sendOffsets([offset], group: try await consumer.groupMetadata(), timeout: limit)
        try await producer.commit(timeout: limit)
        #expect(try await consumer.committed([partition], timeout: limit) == [offset])
      }
    }
  }

  @Test func `a member of an old generation cannot commit over its successor`() async throws {
    try await cluster.createTopic(partitions: 2)
    let offset = [CommittedOffset(cluster[0], offset: 3)]
    let (group, topics) = (cluster.prefix, [cluster.topic])
    try await cluster.withMember(of: group, topics: topics) { (first) async throws in
      let consumer = first.consumer
      let past = try await consumer.groupMetadata()
      try await cluster.withMember(of: group, topics: topics) { (_) async throws in
        try await first.rebalance()
        try await cluster.withTransactions(as: cluster.prefix) { producer in
          try await producer.begin()
          let error = await #expect(throws: KafkaError.self) {
            try await producer.sendOffsets(offset, group: past, timeout: limit)
          }
          #expect(error?.transactionRemedy == .abort)
          try await producer.abort(timeout: limit)
          try await producer.begin()
          try await producer.sendOffsets(offset, group: try await consumer.groupMetadata(), timeout: limit)
          try await producer.commit(timeout: limit)
          #expect(try await consumer.committed([cluster[0]], timeout: limit) == offset)
        }
      }
    }
  }
}
