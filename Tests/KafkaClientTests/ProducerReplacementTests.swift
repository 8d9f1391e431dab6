import CRDKafka
import Synchronization
import TestEnvironment
import Testing

@testable import KafkaClient

// Regression tests. librdkafka 2.0.2 raised OUT_OF_ORDER_SEQUENCE_NUMBER after a partition leader paused, and the
// process exited.
@Suite(.timeLimit(.minutes(15))) struct ProducerReplacementTests {
  private static let partition = TopicPartition(topic: "t", partition: 0)

  @Test func `after a fatal error a new client continues the run`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let replacements = Mutex<[KafkaError]>([])
    let producer = try KafkaProducer(
      cluster.configuration,
      observer: ClientObserver(replacement: { error in replacements.withLock { $0.append(error) } })
    )
    try await running(producer.run, until: producer.shutDown) {
      try await producer.prepare(["t"], timeout: .seconds(60))
      for index in 0..<3 as Range<Int64> {
        let failed = producer.handle
        #expect(try await producer.send(ProducerRecord(topic: "t", value: [1])).offset == index)
        producer.failForTest()
        #expect(failed.fatalError != nil)
      }
      #expect(try await producer.send(ProducerRecord(topic: "t", value: [1])).offset == 3)
      #expect(producer.handle.fatalError == nil)
    }
    let codes = replacements.withLock { $0.map(\.code.rawValue) }
    #expect(codes == Array(repeating: RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER.rawValue, count: 3))
  }

  // librdkafka 2.16.0 kept the leaders of a topic that was deleted and created again (librdkafka issue 4898).
  @Test func `a client that does not reach a topic of a cluster that is well is replaced`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let replacements = Mutex<[KafkaError]>([])
    let producer = try KafkaProducer(
      cluster.configuration, sendTimeout: .seconds(300),
      observer: ClientObserver(replacement: { error in replacements.withLock { $0.append(error) } }))
    try await running(producer.run, until: producer.shutDown) {
      _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      let failed = producer.handle
      // Every request of the old client fails with a retriable error.
      cluster.embedded.failRequests(
        apiKey: 0, with: Array(repeating: KafkaError.Code(rawValue: 19), count: 10_000))
      let late = await failure {
        _ = try await producer.send(ProducerRecord(topic: "t", value: [2]), until: .now + .milliseconds(300))
      }
      #expect((late as? KafkaError)?.code == .messageTimedOut)
      // The observer is called after the client has changed.
      try await waitUntil(replacements.withLock { !$0.isEmpty })
      #expect(producer.handle !== failed)
      #expect(replacements.withLock { $0.map(\.code) } == [.messageTimedOut])
    }
  }

  @Test func `a client is not replaced while its topic has no leader`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let producer = try KafkaProducer(cluster.configuration, sendTimeout: .seconds(300))
    try await running(producer.run, until: producer.shutDown) {
      #expect(try await producer.send(ProducerRecord(topic: "t", value: [1])).offset == 0)
      let first = producer.handle
      try cluster.embedded.setLeader(of: Self.partition, to: -1)
      let late = await failure {
        _ = try await producer.send(ProducerRecord(topic: "t", value: [2]), until: .now + .milliseconds(300))
      }
      #expect((late as? KafkaError)?.code == .messageTimedOut)
      // The producer has asked the cluster on this thread.
      await first.blocking.run { () -> Void in }
      try cluster.embedded.setLeader(of: Self.partition, to: 1)
      #expect(try await producer.send(ProducerRecord(topic: "t", value: [3])).offset >= 1)
      #expect(producer.handle === first)
    }
  }

  @Test func `the new client sends an unwritten record again, and it is written once`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try cluster.embedded.setLeader(of: Self.partition, to: -1)
    let producer = try KafkaProducer(cluster.configuration, sendTimeout: .seconds(300))
    try await running(producer.run, until: producer.shutDown) {
      let single = Task { try await producer.send(ProducerRecord(topic: "t", value: [1])) }
      try await waitUntil(producer.inFlight > 0)
      let failed = producer.handle
      producer.failForTest()
      try await waitUntil(producer.handle !== failed)
      try cluster.embedded.setLeader(of: Self.partition, to: 1)
      #expect(try await single.value.offset == 0)
      #expect(try await producer.send(ProducerRecord(topic: "t", value: [2])).offset == 1)
    }
    #expect(try await cluster.read(2, from: Self.partition).map(\.value) == [[1], [2]])
  }

  @Test func `records of one batch keep their order across a replacement`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try cluster.embedded.setLeader(of: Self.partition, to: -1)
    let producer = try KafkaProducer(cluster.configuration, sendTimeout: .seconds(300))
    try await running(producer.run, until: producer.shutDown) {
      let batch = Task {
        try await producer.send(contentsOf: (0..<50).map { ProducerRecord(topic: "t", value: [$0]) })
      }
      try await waitUntil(producer.inFlight > 0)
      let failed = producer.handle
      producer.failForTest()
      try await waitUntil(producer.handle !== failed)
      try cluster.embedded.setLeader(of: Self.partition, to: 1)
      #expect(try await batch.value.map(\.offset) == Array(0..<50))
    }
    #expect(try await cluster.read(50, from: Self.partition).map(\.value) == (0..<50).map { [$0] })
  }

  @Test func `a record that may have been written is not sent again`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    // The broker appends the record at once. Its acknowledgement arrives long after the request timed out.
    try cluster.embedded.delayAnswers(apiKey: 0, of: 1, by: .seconds(600), count: 1)
    let producer = try KafkaProducer(cluster.configuration, sendTimeout: .seconds(300))
    let failure = await failure {
      try await running(producer.run, until: producer.shutDown) {
        async let position = producer.send(ProducerRecord(topic: "t", value: [1]))
        _ = try await cluster.read(1, from: Self.partition)
        producer.failForTest()
        _ = try await position
      }
    }
    let error = try #require(failure as? KafkaError)
    #expect(error.persistence == .possiblyPersisted)
    #expect(!error.isFatal, "the next attempt uses a new client")
    #expect(error.isRetriable)
  }

  @Test func `a send fails at its deadline, and librdkafka may still write the record`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try cluster.embedded.setLeader(of: Self.partition, to: -1)
    let producer = try KafkaProducer(
      cluster.configuration, sendTimeout: .milliseconds(300), deliveryTimeout: .seconds(300))
    try await running(producer.run, until: producer.shutDown) {
      let byDefault = await failure { _ = try await producer.send(ProducerRecord(topic: "t", value: [1])) }
      let byDeadline = await failure {
        _ = try await producer.send(ProducerRecord(topic: "t", value: [2]), until: .now + .milliseconds(100))
      }
      for error in [byDefault, byDeadline] {
        #expect((error as? KafkaError)?.code == .messageTimedOut)
        #expect((error as? KafkaError)?.persistence == .possiblyPersisted)
      }
      let late = await failure { _ = try await producer.send(ProducerRecord(topic: "t", value: [3]), until: .now) }
      #expect((late as? KafkaError)?.persistence == .notPersisted)
      try cluster.embedded.setLeader(of: Self.partition, to: 1)
      #expect(try await cluster.read(2, from: Self.partition).map(\.value) == [[1], [2]])
    }
  }

  @Test func `a run ends even if librdkafka still has records whose sends timed out`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try cluster.embedded.setLeader(of: Self.partition, to: -1)
    let producer = try KafkaProducer(
      cluster.configuration, sendTimeout: .milliseconds(50), deliveryTimeout: .seconds(600))
    let given = await failure {
      try await running(producer.run, until: producer.shutDown) {
        _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      }
    }
    #expect((given as? KafkaError)?.code == .messageTimedOut)
  }

  @Test(arguments: [true, false])
  func `a shutdown after a fatal error ends every send and the run`(isCancelled: Bool) async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try ProcessStart.alone { try cluster.embedded.takeDown(1) }
    let producer = try KafkaProducer(cluster.configuration, sendTimeout: .seconds(600))
    let run = Task { try await producer.run() }
    let sending = Task { try await producer.send(ProducerRecord(topic: "t", value: [1])) }
    try await waitUntil(producer.inFlight > 0)
    let failed = producer.handle
    producer.failForTest()
    try await waitUntil(producer.handle !== failed)
    if isCancelled { run.cancel() } else { producer.failForTest(); producer.shutDown() }
    await #expect(throws: KafkaError.self) { try await sending.value }
    try await run.value
    #expect(producer.inFlight == 0)
  }

  // A send may read the current client just before its replacement. Nobody would serve the report.
  @Test func `a replaced client accepts no record`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let client = try ProducerClient(
      cluster.configuration, properties: try cluster.configuration.plainProducerProperties(),
      observer: ClientObserver(),
      room: QueueSpaceWaiters())
    client.abandon(KafkaError(code: .messageTimedOut, operation: "send", reason: "stuck"))
    await client.drain(patience: .zero)
    for outcome in await [client.attempt(ProducerRecord(topic: "t", value: [1]), until: nil)]
      + client.attempt([ProducerRecord(topic: "t", value: [2])])
    {
      guard case .failed(let error) = outcome else { Issue.record("\(outcome)"); continue }
      #expect(error.code == .messageTimedOut && error.persistence == .notPersisted)
    }
  }

  @Test func `the first replacement is immediate, and repeated ones back off`() {
    var backoff = ReplacementBackoff()
    var now = ContinuousClock.now
    var pauses: [Duration] = []
    for _ in 0..<10 {
      let next = backoff.next(at: now)
      pauses.append(next.map { now.duration(to: $0) } ?? .zero)
      now = (next ?? now) + .milliseconds(1)
    }
    #expect(pauses.prefix(4) == [.zero, .milliseconds(100), .milliseconds(200), .milliseconds(400)])
    #expect(pauses.last == .seconds(10))
    #expect(backoff.next(at: now + ReplacementBackoff.calm) == nil)
    #expect(backoff.next(at: now + ReplacementBackoff.calm) != nil)
  }

  @Test func `a request to a broker that hangs times out before the broker loses its partitions`() throws {
    let configuration = KafkaConfiguration(bootstrapServers: "localhost:1")
    let timeout = try #require(Int(try configuration.plainProducerProperties()["socket.timeout.ms"] ?? ""))
    #expect(timeout < 9_000)
    var own = configuration
    own.properties["socket.timeout.ms"] = "7000"
    #expect(try own.plainProducerProperties()["socket.timeout.ms"] == "7000")
  }
}
