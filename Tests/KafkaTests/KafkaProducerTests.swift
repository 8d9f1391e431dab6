import CRDKafka
import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(15))) struct KafkaProducerTests {
  @Test func `send returns the position that a reader finds the record at`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let positions = try await cluster.withProducer { producer in
      var positions: [RecordPosition] = []
      for index in 0..<5 as Range<UInt8> {
        positions.append(try await producer.send(ProducerRecord(topic: "t", key: [index], value: [index, 0, 255])))
      }
      return positions
    }
    #expect(positions.map(\.offset) == [0, 1, 2, 3, 4])
    let records = try await cluster.read(5, from: TopicPartition(topic: "t", partition: 0))
    #expect(records.map(\.value) == (0..<5).map { [$0, 0, 255] })
    #expect(records.map(\.key) == (0..<5).map { [$0] })
  }

  @Test func `keys go to the partitions that Java's default partitioner chooses`() async throws {
    let cluster = try TestCluster(topics: ["t": 12])
    // org.apache.kafka.common.utils.Utils.murmur2, positive, modulo 12.
    let expected: [String: Int32] = [
      "21": murmur2Partition("21", of: 12), "foobar": murmur2Partition("foobar", of: 12),
      "2000000847061981": murmur2Partition("2000000847061981", of: 12),
    ]
    try await cluster.withProducer { producer in
      for (key, partition) in expected {
        let position = try await producer.send(ProducerRecord(topic: "t", key: Array(key.utf8), value: []))
        #expect(position.partition == partition, "key \(key)")
      }
    }
  }

  @Test func `the partitioner's hash agrees with the values Java's own tests list`() {
    #expect(murmur2("21") == -973_932_308)
    #expect(murmur2("foobar") == -790_332_482)
    #expect(murmur2("a-little-bit-long-string") == -985_981_536)
  }

  @Test func `tombstones, empty values and odd headers arrive as they were sent`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let headers = [
      RecordHeader("a", "1"), RecordHeader(name: "none", value: nil), RecordHeader(name: "empty", value: []),
      RecordHeader(name: "bytes", value: [0xFF, 0x00, 0xC3]), RecordHeader("a", "2"),
    ]
    try await cluster.withProducer { producer in
      _ = try await producer.send(ProducerRecord(topic: "t", key: [1], value: nil, headers: headers))
      _ = try await producer.send(ProducerRecord(topic: "t", key: [], value: []))
      _ = try await producer.send(ProducerRecord(topic: "t", value: [0xC3, 0x28], timestamp: 1_700_000_000_123))
    }
    let records = try await cluster.read(3, from: TopicPartition(topic: "t", partition: 0))
    try #require(records.count == 3)
    #expect(records[0].value == nil)
    #expect(records[0].headers == headers)
    #expect(records[1].value == [])
    #expect(records[1].key == [])
    #expect(records[2].key == nil)
    #expect(records[2].value == [0xC3, 0x28])
    #expect(records[2].timestamp == 1_700_000_000_123)
  }

  @Test func `a cluster that is away fails the send inside its time limit`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try cluster.embedded.takeDown(1)
    let started = ContinuousClock.now
    let error = await #expect(throws: KafkaError.self) {
      try await cluster.withProducer(sendTimeout: .milliseconds(800)) { producer in
        _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      }
    }
    #expect(error?.code == .messageTimedOut)
    #expect(error?.isRetriable == true)
    // The upper bound is generous: it guards against librdkafka's default of 300 s, not against a busy machine.
    #expect(ContinuousClock.now - started < .seconds(200))
  }

  @Test func `sends resume when the cluster comes back`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await cluster.withProducer { producer in
      _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      try cluster.embedded.takeDown(1)
      async let second = producer.send(ProducerRecord(topic: "t", value: [2]))
      try cluster.embedded.bringUp(1)
      #expect(try await second.offset >= 1)
    }
  }

  @Test func `preparing fails inside its limit where there is no broker, and sending works once there is one`()
    async throws
  {
    let cluster = try TestCluster(topics: ["t": 1])
    try cluster.embedded.takeDown(1)
    try await cluster.withProducer { producer in
      await #expect(throws: KafkaError.self) { try await producer.prepare(["t"], timeout: .milliseconds(200)) }
      try cluster.embedded.bringUp(1)
      #expect(try await producer.send(ProducerRecord(topic: "t", value: [1])).offset == 0)
    }
  }

  @Test func `shutting down waits for every record already taken`() async throws {
    let cluster = try TestCluster(topics: ["t": 4])
    let producer = try KafkaProducer(cluster.configuration)
    let running = Task { try await producer.run() }
    let unexpected = await withTaskGroup(of: KafkaError.Code?.self) { group in
      for index in 0..<200 as Range<UInt8> {
        group.addTask {
          do throws(KafkaError) {
            _ = try await producer.send(ProducerRecord(topic: "t", key: [index], value: [index]))
            return nil
          } catch { return error.code }
        }
      }
      _ = await group.next()
      producer.shutDown()
      // Taken and acknowledged, or refused as closed: nothing in between.
      return await group.compactMap { $0 }.filter { $0 != .closed }.reduce(into: []) { $0.append($1) }
    }
    try await running.value
    #expect(unexpected.isEmpty)
    #expect(producer.inFlight == 0)
    await #expect(throws: KafkaError.self) { try await producer.send(ProducerRecord(topic: "t", value: [])) }
  }

  @Test func `a full queue suspends the sender instead of failing it`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    // On a busy machine the last of five hundred waits long: the test is about failing, not about time.
    try await cluster.withProducer(
      ["queue.buffering.max.messages": "10"], sendTimeout: .seconds(600)
    ) { producer in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<500 {
          group.addTask {
            _ = try await producer.send(ProducerRecord(topic: "t", value: Array("\(index)".utf8)))
          }
        }
        try await group.waitForAll()
      }
    }
    let records = try await cluster.read(500, from: TopicPartition(topic: "t", partition: 0))
    #expect(Set(records.map(\.value)).count == 500)
  }

  // With room for one record, only that record's own report can wake who waits: a wake-up that comes before the room is
  // made leaves him waiting until his limit.
  @Test func `whoever waits for room is woken when it is there`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    // No queue: on a busy machine one of the three can be last again and again.
    try await cluster.withProducer(
      ["queue.buffering.max.messages": "1"], sendTimeout: .seconds(600)
    ) { producer in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          group.addTask {
            for _ in 0..<400 { _ = try await producer.send(ProducerRecord(topic: "t", value: [1])) }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func `cancelling the run ends sends that wait for a dead cluster`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try cluster.embedded.takeDown(1)
    let producer = try KafkaProducer(cluster.configuration, sendTimeout: .seconds(300))
    let running = Task { try await producer.run() }
    let sending = Task { try await producer.send(ProducerRecord(topic: "t", value: [1])) }
    while producer.inFlight == 0 { await Task.yield() }
    running.cancel()
    try await running.value
    await #expect(throws: KafkaError.self) { try await sending.value }
  }

  @Test func `a record beyond the size limit is refused with its own code`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let error = await #expect(throws: KafkaError.self) {
      try await cluster.withProducer { producer in
        _ = try await producer.send(ProducerRecord(topic: "t", value: [UInt8](repeating: 1, count: 5 << 20)))
      }
    }
    #expect(error?.code == .messageTooLarge)
    #expect(error?.isRetriable == false)
  }

  @Test func `a fatal error ends the run, so that the process can start anew`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let producer = try KafkaProducer(cluster.configuration)
    let running = Task { () async -> KafkaError? in
      do throws(KafkaError) {
        try await producer.run()
        return nil
      } catch { return error }
    }
    rd_kafka_test_fatal_error(producer.handle.rk, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "test")
    let fatal = await running.value
    #expect(fatal?.isFatal == true)
    await #expect(throws: KafkaError.self) { try await producer.send(ProducerRecord(topic: "t", value: [1])) }
  }

  @Test(arguments: [
    (KafkaError.Code(rawValue: 19), true), (KafkaError.Code(rawValue: 29), false),
  ])
  func `a broker's error is retried where that can help, and reported where it cannot`(
    code: KafkaError.Code, isRetried: Bool
  ) async throws {
    // 19 is NOT_ENOUGH_REPLICAS, 29 TOPIC_AUTHORIZATION_FAILED; 0 is the Produce request.
    let cluster = try TestCluster(topics: ["t": 1])
    cluster.embedded.failRequests(apiKey: 0, with: [code, code])
    let result = await Result { () async throws in
      try await cluster.withProducer { producer in
        try await producer.send(ProducerRecord(topic: "t", value: [1]))
      }
    }
    switch result {
    case .success: #expect(isRetried)
    case .failure(let error):
      #expect(!isRetried)
      #expect((error as? KafkaError)?.code == code)
    }
  }

  @Test func `an acknowledgement that never comes leaves the record in doubt and the send inside its limit`()
    async throws
  {
    let cluster = try TestCluster(topics: ["t": 1])
    try cluster.embedded.setRoundTrip(.seconds(30), of: 1)
    let error = await #expect(throws: KafkaError.self) {
      try await cluster.withProducer(sendTimeout: .seconds(1)) { producer in
        _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      }
    }
    #expect(error?.code == .messageTimedOut)
  }

  @Test func `a partition without a leader is waited for`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let partition = TopicPartition(topic: "t", partition: 0)
    try cluster.embedded.setLeader(of: partition, to: -1)
    try await cluster.withProducer { producer in
      async let position = producer.send(ProducerRecord(topic: "t", value: [1]))
      try cluster.embedded.setLeader(of: partition, to: 1)
      #expect(try await position.offset == 0)
    }
  }

  @Test func `statistics and logs reach the observer`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let (statistics, sink) = AsyncStream.makeStream(of: KafkaStatistics.self)
    let producer = try KafkaProducer(
      cluster.configuration(["statistics.interval.ms": "50"]),
      observer: ClientObserver(statistics: { sink.yield($0) }))
    let running = Task { try await producer.run() }
    _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
    for await statistic in statistics where statistic.sentMessages == 1 {
      #expect(statistic.brokers.contains { $0.state == "UP" })
      break
    }
    producer.shutDown()
    try await running.value
  }
}

/// Java's murmur2 (org.apache.kafka.common.utils.Utils), written down again so that nothing is compared with itself.
private func murmur2(_ text: String) -> Int32 {
  let data = Array(text.utf8)
  let m: UInt32 = 0x5bd1_e995
  var h: UInt32 = 0x9747_b28c ^ UInt32(data.count)
  for start in stride(from: 0, to: data.count - data.count % 4, by: 4) {
    var k = (0..<4).reduce(UInt32(0)) { $0 | UInt32(data[start + $1]) << (8 * UInt32($1)) }
    k = k &* m
    k ^= k >> 24
    h = (h &* m) ^ (k &* m)
  }
  let tail = data.suffix(data.count % 4)
  if !tail.isEmpty {
    for (index, byte) in tail.enumerated() { h ^= UInt32(byte) << (8 * UInt32(index)) }
    h = h &* m
  }
  h ^= h >> 13
  h = h &* m
  h ^= h >> 15
  return Int32(bitPattern: h)
}

private func murmur2Partition(_ key: String, of count: Int32) -> Int32 { (murmur2(key) & 0x7fff_ffff) % count }
