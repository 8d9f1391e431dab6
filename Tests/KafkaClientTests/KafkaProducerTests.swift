import CRDKafka
import TestEnvironment
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(15))) struct KafkaProducerTests {
  @Test func `send returns the position of the record`() async throws {
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
    // org.apache.kafka.common.utils.Utils.murmur2, without the sign bit, modulo 12.
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

  @Test func `the partitioner's hash returns the values in the tests of Kafka's Java client`() {
    #expect(murmur2("21") == -973_932_308)
    #expect(murmur2("foobar") == -790_332_482)
    #expect(murmur2("a-little-bit-long-string") == -985_981_536)
  }

  @Test func `tombstones, empty values and unusual headers arrive unchanged`() async throws {
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

  @Test func `a send to an unreachable cluster fails within its time limit`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try ProcessStart.alone { try cluster.embedded.takeDown(1) }
    let started = ContinuousClock.now
    let error = await #expect(throws: KafkaError.self) {
      try await cluster.withProducer(sendTimeout: .milliseconds(800)) { producer in
        _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      }
    }
    #expect(error?.code == .messageTimedOut)
    #expect(error?.isRetriable == true)
    // The bound allows for a busy machine and is below librdkafka's default of 300 s.
    #expect(ContinuousClock.now - started < .seconds(200))
  }

  @Test func `sends resume when the cluster comes back`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await cluster.withProducer { producer in
      _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      try ProcessStart.alone { try cluster.embedded.takeDown(1) }
      async let second = producer.send(ProducerRecord(topic: "t", value: [2]))
      try cluster.embedded.bringUp(1)
      #expect(try await second.offset >= 1)
    }
  }

  @Test func `prepare fails within its limit without a broker, and a later send succeeds`()
    async throws
  {
    let cluster = try TestCluster(topics: ["t": 1])
    try ProcessStart.alone { try cluster.embedded.takeDown(1) }
    try await cluster.withProducer { producer in
      await #expect(throws: KafkaError.self) { try await producer.prepare(["t"], timeout: .milliseconds(200)) }
      try cluster.embedded.bringUp(1)
      #expect(try await producer.send(ProducerRecord(topic: "t", value: [1])).offset == 0)
    }
  }

  @Test func `a shutdown waits for every record in flight`() async throws {
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
      // Every send is acknowledged or refused as closed.
      return await group.compactMap { $0 }.filter { $0 != .closed }.reduce(into: []) { $0.append($1) }
    }
    try await running.value
    #expect(unexpected.isEmpty)
    #expect(producer.inFlight == 0)
    await #expect(throws: KafkaError.self) { try await producer.send(ProducerRecord(topic: "t", value: [])) }
  }

  @Test func `a full queue suspends the sender and does not fail the send`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    // The time limit is long because on a busy machine the last of 500 sends waits long.
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

  // The queue has space for one record, so only that record's delivery report can wake a waiting sender. A wake-up
  // before the space is free would leave the sender waiting until its time limit.
  @Test func `a sender that waits for space in the queue is woken when space is free`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    // Waiters have no order. On a busy machine one of the three can lose repeatedly.
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

  @Test func `cancelling the run ends sends that wait for an unreachable cluster`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try ProcessStart.alone { try cluster.embedded.takeDown(1) }
    let producer = try KafkaProducer(cluster.configuration, sendTimeout: .seconds(300))
    let running = Task { try await producer.run() }
    let sending = Task { try await producer.send(ProducerRecord(topic: "t", value: [1])) }
    try await waitUntil(producer.inFlight > 0)
    running.cancel()
    try await running.value
    await #expect(throws: KafkaError.self) { try await sending.value }
  }

  @Test func `a record beyond the size limit fails with messageTooLarge`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let error = await #expect(throws: KafkaError.self) {
      try await cluster.withProducer { producer in
        _ = try await producer.send(ProducerRecord(topic: "t", value: [UInt8](repeating: 1, count: 5 << 20)))
      }
    }
    #expect(error?.code == .messageTooLarge)
    #expect(error?.isRetriable == false)
  }

  @Test(arguments: [
    (KafkaError.Code(rawValue: 19), true), (KafkaError.Code(rawValue: 29), false),
  ])
  func `retriable errors of a broker are retried, others are reported`(
    code: KafkaError.Code, isRetried: Bool
  ) async throws {
    // 19 is NOT_ENOUGH_REPLICAS, 29 is TOPIC_AUTHORIZATION_FAILED. API key 0 is the Produce request.
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

  @Test func `a send without an acknowledgement fails within its time limit`()
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

  @Test func `a send waits for a partition without a leader`() async throws {
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

/// An independent implementation of Java's murmur2 (org.apache.kafka.common.utils.Utils).
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
