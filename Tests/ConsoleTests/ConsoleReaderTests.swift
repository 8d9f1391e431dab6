import AppStore
import MillraceTime
import KafkaClient
import Logging
import MillraceWorker
import Operations
import Testing

@testable import Console

@Suite(.timeLimit(.minutes(15))) struct ConsoleReaderTests {
  private let cluster: EmbeddedCluster
  private let kafka: KafkaConfiguration
  private let topics: ConsoleTopics
  private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  init() throws {
    cluster = try EmbeddedCluster()
    try cluster.create(try Deployment.catalog())
    kafka = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers, clientID: "test")
    topics = try Deployment.topics()
  }

  private func write(_ records: [ProducerRecord]) async throws {
    let producer = try KafkaProducer(kafka)
    let running = Task { try await producer.run() }
    _ = try await producer.send(contentsOf: records)
    producer.shutDown()
    try await running.value
  }

  /// Commits as a worker that has read up to these offsets.
  private func commit(_ offsets: [TopicPartition: Int64], group: String) async throws {
    var configuration = kafka
    configuration.properties = [
      "fetch.wait.max.ms": "10", "session.timeout.ms": "4000", "heartbeat.interval.ms": "500",
      "auto.offset.reset": "earliest",
    ]
    let consumer = try KafkaConsumer(
      configuration, subscription: .group(group, topics: Set(offsets.keys.map(\.topic)).sorted()))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await consumer.run() }
      for await event in consumer.events {
        switch event {
        case .assigned:
          try await consumer.commit(offsets.map { CommittedOffset($0.key, offset: $0.value) })
          consumer.shutDown()
        case .revoked(let revocation): revocation.complete()
        }
      }
      try await tasks.waitForAll()
    }
  }

  @Test func `the contents and the changes of a cluster are shown, without joining a group`() async throws {
    let lane = TopicPartition(topic: "appstore.notifications.refunds", partition: 1)
    let now = MillraceClock.system.wallTime
    var records = (0..<5).map { number in
      var record = Written.notification("n\(number)", key: "k", at: now - .seconds(90))
      record.partition = lane.partition
      return record
    }
    records += (0..<40).map { Written.deadLetter("d\($0)", key: "\($0)", at: now) }
    records.append(Written.delayed("p", key: "k", row: "1m", due: now + .seconds(60), at: now))
    try await write(records)
    try await commit([lane: 3], group: "millrace.refunds")

    let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let store = ConsoleStore(topics, deadLetters: 1_000, clock: .system) { change.yield() }
    let reader = ConsoleReader(
      configuration: Deployment.configuration(), kafka: kafka, topics: topics, store: store, logger: silent,
      surveyInterval: .milliseconds(100))
    let reading = Task { try await reader.run() }
    func wait(_ holds: (Overview) -> Bool) async -> Overview? {
      for await _ in changes {
        let overview = await store.overview()
        if holds(overview) { return overview }
      }
      return nil
    }

    let first = await wait { $0.isCaughtUp && $0.surveyedAt != nil && $0.retries.contains { $0.waiting > 0 } }
    #expect(first?.deadLetters.open == 40)
    #expect(first?.problems == [:])
    let refunds = first?.workers.first { $0.worker == "refunds" }
    #expect(refunds?.lanes.first { $0.lane == 1 }?.records == 2)
    #expect(refunds?.oldest != nil)
    #expect(refunds?.lanes.filter { $0.lane != 1 }.allSatisfy { $0.records == 0 } == true)
    #expect(first?.workers.first { $0.worker == "consumption" }?.hasRun == false)

    try await write([Written.deadLetter("late", key: "x", at: now), Written.notification("n9", key: "k", at: now)])
    let later = await wait { $0.deadLetters.open == 41 && $0.flow.contains { $0.key.outcome == .received } }
    #expect(later != nil)
    reading.cancel()
    try await reading.value
  }
}
