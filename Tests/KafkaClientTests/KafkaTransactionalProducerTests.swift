import CRDKafka
import TestEnvironment
import Testing

@testable import KafkaClient

/// Tests the calls and the classification of their errors. The embedded cluster accepts transactions without any of
/// their guarantees. `TransactionPromisesTests` tests the guarantees on a real cluster.
@Suite(.timeLimit(.minutes(15))) struct KafkaTransactionalProducerTests {
  private let limit = Duration.seconds(20)
  private let partition = TopicPartition(topic: "t", partition: 0)

  /// API keys of Kafka's protocol.
  private enum Request {
    static let produce: Int16 = 0
    static let addPartitionsToTxn: Int16 = 24
    static let addOffsetsToTxn: Int16 = 25
    static let endTxn: Int16 = 26
    static let txnOffsetCommit: Int16 = 28
  }

  @Test func `two transactions commit records and offsets`() async throws {
    let cluster = try TestCluster(topics: ["t": 2])
    let consumer = try KafkaConsumer(cluster.configuration, subscription: .group("g", topics: ["t"]))
    let group = try await consumer.groupMetadata()
    try await cluster.withTransactions(as: "id") { producer in
      try await producer.prepare(["t"], timeout: limit)
      for round in 0..<2 as Range<Int64> {
        try await producer.begin()
        async let one = producer.send(ProducerRecord(topic: "t", partition: 0, value: [1]))
        async let two = producer.send(ProducerRecord(topic: "t", partition: 1, value: nil))
        #expect(try await (one.offset, two.offset) == (round, round))
        try await producer.sendOffsets([], group: group, timeout: limit)
        try await producer.sendOffsets([CommittedOffset(partition, offset: 1 + round)], group: group, timeout: limit)
        try await producer.commit(timeout: limit)
      }
    }
  }

  @Test func `a send outside a transaction is refused`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await cluster.withTransactions(as: "id") { producer in
      let error = await #expect(throws: KafkaError.self) {
        try await producer.send(ProducerRecord(topic: "t", value: [1]))
      }
      #expect(error?.transactionRemedy == .replace)
      #expect(producer.transactionalID == "id")
    }
  }

  @Test func `an oversize record is refused and the transaction can commit`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await cluster.withTransactions(as: "id") { producer in
      try await producer.begin()
      let error = await #expect(throws: KafkaError.self) {
        try await producer.send(ProducerRecord(topic: "t", value: [UInt8](repeating: 1, count: 5 << 20)))
      }
      #expect(error?.code == .messageTooLarge)
      #expect(error?.requiresAbort == false)
      _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      try await producer.commit(timeout: limit)
    }
  }

  @Test func `after a failed record the transaction must abort, and the producer stays usable`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await cluster.withTransactions(as: "id") { producer in
      try await producer.begin()
      cluster.embedded.failRequests(
        apiKey: Request.produce,
        with: [KafkaError.Code(rawValue: RD_KAFKA_RESP_ERR_INVALID_RECORD.rawValue)])
      let send = await #expect(throws: KafkaError.self) {
        try await producer.send(ProducerRecord(topic: "t", value: [1]))
      }
      #expect(send?.transactionRemedy == .abort)
      let commit = await #expect(throws: KafkaError.self) { try await producer.commit(timeout: limit) }
      #expect(commit?.transactionRemedy == .abort)
      try await producer.abort(timeout: limit)
      // A refused record leaves a gap in the sequence, which librdkafka 2.0.2 detects with the next record. The second
      // abort requests a new epoch, and the third transaction succeeds.
      var aborts = 1
      while true {
        try await producer.begin()
        let again = await failure {
          _ = try await producer.send(ProducerRecord(topic: "t", value: [2]))
          try await producer.commit(timeout: limit)
        }
        guard let again = again as? KafkaError else { break }
        try #require(again.transactionRemedy == .abort && aborts < 2)
        try await producer.abort(timeout: limit)
        aborts += 1
      }
    }
  }

  @Test(arguments: [
    RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,
  ])
  func `offsets of a member that left the group abort the transaction`(
    code: rd_kafka_resp_err_t
  ) async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let consumer = try KafkaConsumer(cluster.configuration, subscription: .group("g", topics: ["t"]))
    let group = try await consumer.groupMetadata()
    try await cluster.withTransactions(as: "id") { producer in
      try await producer.begin()
      cluster.embedded.failRequests(
        apiKey: Request.txnOffsetCommit, with: [KafkaError.Code(rawValue: code.rawValue)])
      let error = await #expect(throws: KafkaError.self) {
        try await producer.sendOffsets([CommittedOffset(partition, offset: 1)], group: group, timeout: limit)
      }
      #expect(error?.transactionRemedy == .abort)
      #expect(error?.code.rawValue == code.rawValue)
      try await producer.abort(timeout: limit)
      try await producer.begin()
      try await producer.sendOffsets([CommittedOffset(partition, offset: 1)], group: group, timeout: limit)
      try await producer.commit(timeout: limit)
    }
  }

  @Test(arguments: [
    (RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, KafkaError.Code.fenced), (RD_KAFKA_RESP_ERR_PRODUCER_FENCED, .fenced),
    (
      RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
      KafkaError.Code(rawValue: RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED.rawValue)
    ),
  ])
  func `a fatal commit error ends the producer, and later calls throw the same error`(
    answer: rd_kafka_resp_err_t, code: KafkaError.Code
  ) async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let end = await failure {
      try await cluster.withTransactions(as: "id") { producer in
        try await producer.begin()
        _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
        cluster.embedded.failRequests(apiKey: Request.endTxn, with: [KafkaError.Code(rawValue: answer.rawValue)])
        let errors = [
          await failure { try await producer.commit(timeout: limit) },
          await failure { try await producer.abort(timeout: limit) },
          await failure { try await producer.begin() },
          await failure { _ = try await producer.send(ProducerRecord(topic: "t", value: [1])) },
        ].compactMap { $0 as? KafkaError }
        #expect(errors.map(\.code) == [code, code, code, code])
        #expect(errors.allSatisfy { $0.transactionRemedy == .replace })
      }
    }
    #expect((end as? KafkaError)?.isFatal == true)
  }

  // MARK: - Requests without an answer

  /// Runs a producer whose connections the test can break.
  private func withBreakableTransactions(
    on cluster: TestCluster, _ body: (KafkaTransactionalProducer, NetworkFaultInjector) async throws -> Void
  ) async throws {
    let network = NetworkFaultInjector()
    var configuration = cluster.configuration
    configuration.gate = network
    let producer = try KafkaTransactionalProducer(configuration, transactionalID: "id")
    try await running(producer.run, until: producer.shutDown) {
      try await producer.initialize(timeout: limit)
      try await body(producer, network)
    }
  }

  private func breakConnections(_ network: NetworkFaultInjector) async {
    network.close()
    await network.drained()
    network.open()
  }

  /// Repeats a call that times out.
  private func again(_ call: () async throws -> Void) async throws {
    while true {
      do { return try await call() } catch let error as KafkaError where error.transactionRemedy == .retry {}
    }
  }

  @Test(arguments: [true, false])
  func `the end of a transaction whose connection breaks leaves a request without an answer`(
    isCommit: Bool
  ) async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await withBreakableTransactions(on: cluster) { producer, network in
      try await producer.begin()
      _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      #expect(!producer.hasUnansweredRequest)
      try cluster.embedded.delayAnswers(apiKey: Request.endTxn, of: 1, by: .seconds(600), count: 1)
      let end = { (timeout: Duration) async throws(KafkaError) in
        try await isCommit ? producer.commit(timeout: timeout) : producer.abort(timeout: timeout)
      }
      // After the time limit the request is on its way.
      let first = await #expect(throws: KafkaError.self) { try await end(.seconds(2)) }
      #expect(first?.transactionRemedy == .retry)
      await breakConnections(network)
      try await again { try await end(limit) }
      #expect(producer.hasUnansweredRequest)
    }
  }

  @Test(arguments: [Request.addOffsetsToTxn, Request.txnOffsetCommit])
  func `offsets that time out leave a request without an answer`(request: Int16) async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let consumer = try KafkaConsumer(cluster.configuration, subscription: .group("g", topics: ["t"]))
    let group = try await consumer.groupMetadata()
    try await withBreakableTransactions(on: cluster) { producer, _ in
      try await producer.begin()
      _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      #expect(!producer.hasUnansweredRequest)
      try cluster.embedded.delayAnswers(apiKey: request, of: 1, by: .seconds(600), count: 1)
      await #expect(throws: KafkaError.self) {
        try await producer.sendOffsets([CommittedOffset(partition, offset: 1)], group: group, timeout: .seconds(2))
      }
      #expect(producer.hasUnansweredRequest)
    }
  }

  @Test(arguments: [Request.produce, Request.addPartitionsToTxn])
  func `a record that times out leaves a request without an answer`(request: Int16) async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    // Also the time limit of its requests.
    let producer = try KafkaTransactionalProducer(
      cluster.configuration, transactionalID: "id", transactionTimeout: .seconds(1))
    try await running(producer.run, until: producer.shutDown) {
      try await producer.initialize(timeout: limit)
      try await producer.prepare(["t"], timeout: limit)
      try await producer.begin()
      try cluster.embedded.delayAnswers(apiKey: request, of: 1, by: .seconds(600), count: 1)
      let error = await #expect(throws: KafkaError.self) {
        try await producer.send(ProducerRecord(topic: "t", value: [1]))
      }
      #expect(error?.transactionRemedy == .abort)
      try await again { try await producer.abort(timeout: limit) }
      #expect(producer.hasUnansweredRequest)
    }
  }

  @Test func `a connection that breaks between two transactions leaves no request without an answer`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await withBreakableTransactions(on: cluster) { producer, network in
      for round in 0..<3 {
        try await producer.begin()
        _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
        try await again { try await producer.commit(timeout: limit) }
        #expect(!producer.hasUnansweredRequest, "round \(round)")
        await breakConnections(network)
      }
    }
  }

  @Test func `calls that timed out can be retried until the cluster is back`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try ProcessStart.alone { try cluster.embedded.takeDown(1) }
    let producer = try KafkaTransactionalProducer(cluster.configuration, transactionalID: "id")
    try await running(producer.run, until: producer.shutDown) {
      let early = await #expect(throws: KafkaError.self) { try await producer.initialize(timeout: .milliseconds(200)) }
      #expect(early?.transactionRemedy == .retry)
      try cluster.embedded.bringUp(1)
      try await producer.initialize(timeout: limit)
      try await producer.begin()
      _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
      try ProcessStart.alone { try cluster.embedded.takeDown(1) }
      let late = await #expect(throws: KafkaError.self) { try await producer.commit(timeout: .milliseconds(200)) }
      #expect(late?.transactionRemedy == .retry)
      try cluster.embedded.bringUp(1)
      try await producer.commit(timeout: limit)
    }
  }

  @Test func `malformed group metadata is an error that names it`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await cluster.withTransactions(as: "id") { producer in
      try await producer.begin()
      let error = await #expect(throws: KafkaError.self) {
        try await producer.sendOffsets(
          [CommittedOffset(partition, offset: 1)], group: GroupMetadata(bytes: [1, 2, 3]), timeout: limit)
      }
      #expect(error?.operation.contains("metadata") == true)
      try await producer.abort(timeout: limit)
    }
  }

  @Test func `invalid settings are refused`() throws {
    let configuration = KafkaConfiguration(bootstrapServers: "localhost:1")
    let nameless = #expect(throws: KafkaError.self) {
      try KafkaTransactionalProducer(configuration, transactionalID: "")
    }
    #expect(nameless?.code == .invalidConfiguration)
    let hasty = #expect(throws: KafkaError.self) {
      try KafkaTransactionalProducer(configuration, transactionalID: "id", transactionTimeout: .milliseconds(1))
    }
    #expect(hasty?.code == .invalidConfiguration)
  }
}

@Suite struct TransactionRemedyTests {
  @Test(arguments: [
    (false, false, false, TransactionRemedy.replace), (true, false, false, .retry), (false, true, false, .abort),
    (true, true, false, .abort), (true, true, true, .replace), (false, false, true, .replace),
  ])
  func `fatal takes precedence over abort, abort over retry, and other errors count as fatal`(
    isRetriable: Bool, requiresAbort: Bool, isFatal: Bool, remedy: TransactionRemedy
  ) {
    let error = KafkaError(
      code: .timedOut, operation: "commit", reason: "", isRetriable: isRetriable, requiresAbort: requiresAbort,
      isFatal: isFatal)
    #expect(error.transactionRemedy == remedy)
  }
}
