// Tests the runtime with one process on a Kafka broker, to find errors that the in-memory log cannot show.

import AppStore
import KafkaClient
import MillraceTesting
import Synchronization
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct RuntimeOnClusterTests {
  /// A leaving process sends no heartbeats. Even on a busy machine its last commit takes less time.
  private static let patient = ["session.timeout.ms": "10000"]

  @Test(arguments: ClusterKind.available)
  func `an event is read once for a repeated notification`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind)
    let worker = try await cluster.start()
    let notifications = try await cluster.receive(.didRenew, .expired, .subscribed)
    try await cluster.events(for: notifications)
    try await cluster.write(notifications.map(\.producerRecord))
    let last = try await cluster.receive(.didRenew)
    try await cluster.events(for: last)
    try await worker.leave()
    let events = try await cluster.events()
    #expect(events.map(\.notification).sorted() == (notifications + last).map(\.id).sorted())
    #expect(Set(events.map(\.id)).count == events.count)
    #expect(try await cluster.records(in: cluster.topics.deadLetters).isEmpty)
  }

  @Test(arguments: ClusterKind.available)
  func `the next process does not handle a notification again`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind, properties: Self.patient)
    let first = try await cluster.start()
    let before = try await cluster.receive(.didRenew, .expired)
    try await cluster.events(for: before)
    try await first.leave()
    // The same notifications again, like retries by Apple. Only the ledger can recognize them.
    try await cluster.write(before.map(\.producerRecord))
    let after = try await cluster.receive(.didRenew)
    let second = try await cluster.start()
    try await cluster.events(for: after)
    try await second.leave()
    #expect(try await cluster.events().map(\.notification).sorted() == (before + after).map(\.id).sorted())
  }

  @Test(arguments: ClusterKind.available)
  func `a failed record waits for at least its retry delay`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind)
    let worker = try await cluster.start()
    let notifications = try await cluster.receive(.didFailToRenew)
    let event = try #require(try await cluster.events(for: notifications).first)
    // On the retry topic, the end mark of the transaction follows the record. The lane commits it too.
    let committed = try #require(try await cluster.committed())
    let isTransactional = cluster.log.description.capabilities.contains(.transactions)
    #expect(committed.values.max() == (isTransactional ? 2 : 1), "\(committed)")
    try await worker.leave()
    #expect(event.attempt == 1)
    let delayed = try await cluster.records(in: cluster.topics.retries[0])
    #expect(delayed.map(\.value) == notifications.map(\.bytes))
    let history = DeliveryHistory(try #require(delayed.first))
    #expect(history.attempt == 1 && history.first.topic == cluster.input)
    let time = try #require(event.record.text("ce_time").flatMap { Timestamp(rfc3339: $0) })
    #expect(time >= (try #require(history.due)))
  }

  @Test(arguments: ClusterKind.available)
  func `a timer that fails is counted across processes, and is a dead letter at last`(_ kind: ClusterKind) async throws
  {
    let cluster = try await WorkerCluster(kind, lanes: 1, properties: Self.patient) { $0.maximumAttempts = 4 }
    let first = try await cluster.start()
    try await cluster.receive(.offerRedeemed)
    @Sendable func attempts(_ record: ConsumerRecord) -> Int? {
      (try? LedgerEntry(record))?.content(as: LaneTimer.self)?.failures?.attempts
    }
    _ = try await cluster.records(in: cluster.topics.ledger) { $0.contains { attempts($0) != nil } }
    try await first.leave()
    let second = try await cluster.start()
    let letters = try await cluster.records(in: cluster.topics.deadLetters) { !$0.isEmpty }
    try await second.leave()
    let letter = try #require(letters.first)
    #expect(letter.text("millrace-reason") == "attempts-exhausted")
    #expect(letter.text("millrace-detail") == "tried 4 times; last: handler-error: attempt 3")
    let counts = try await cluster.records(in: cluster.topics.ledger).compactMap(attempts)
    #expect(counts == [1, 2, 3])
  }

  @Test(arguments: ClusterKind.available)
  func `a record of one megabyte can be delayed or become a dead letter`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind)
    let worker = try await cluster.start()
    let (delayed, dead) = (
      try await cluster.receiveLarge(.didFailToRenew), try await cluster.receiveLarge(.gracePeriodExpired)
    )
    #expect([delayed, dead].allSatisfy { $0.bytes.count > 1_000_000 })
    #expect(try await cluster.events(for: [delayed]).map(\.attempt) == [1])
    let letters = try await cluster.records(in: cluster.topics.deadLetters) { !$0.isEmpty }
    try await worker.leave()
    #expect(try await cluster.records(in: cluster.topics.retries[0]).map(\.value) == [delayed.bytes])
    #expect(letters.map(\.value) == [dead.bytes])
  }

  @Test(arguments: ClusterKind.available)
  func `a requeued dead letter is handled, and its command is executed once`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind)
    let worker = try await cluster.start()
    let notifications = try await cluster.receive(.gracePeriodExpired)
    let letter = try #require(
      try await cluster.records(in: cluster.topics.deadLetters) { !$0.isEmpty }.first)
    #expect(DeadLetter(letter.headers)?.reason == "no-use")
    #expect(letter.value == notifications.first?.bytes)

    _ = Tally.mended.withLock { $0.insert(notifications[0].id) }
    let item = OperationCommand.deadLetter(lane: letter.partition, offset: letter.offset)
    let commands = ["first", "second"].map { id in
      OperationsRecord.command(
        OperationCommand(
          id: id, item: item, worker: Tally.name, lane: letter.partition, action: .requeue, why: "mended", by: "test",
          at: Timestamp(millisecondsSince1970: 0)))
    }
    try await cluster.write(
      commands.map {
        ProducerRecord(
          topic: cluster.topics.operations, partition: 0, key: $0.key, value: $0.json.serialized())
      })
    let events = try await cluster.events(for: notifications)
    try await worker.leave()
    #expect(events.map(\.attempt) == [0])
    let results = try await cluster.records(in: cluster.topics.operations).compactMap { record in
      try OperationsRecord(JSON(parsing: record.value ?? []))
    }.compactMap { if case .result(let result) = $0 { result } else { nil } }
    #expect(results.map(\.command) == ["first"])
    #expect(results.map(\.outcome) == [.done])
    #expect(try await cluster.records(in: cluster.topics.replay).count == 1)
  }

  @Test func `records that were deleted unread are reported and the worker continues`() async throws {
    // The embedded cluster keeps only 5 MiB of a partition, so old records are soon deleted.
    let cluster = try await WorkerCluster(.embedded, lanes: 1, properties: Self.patient)
    let first = try await cluster.start()
    try await cluster.events(for: try await cluster.receive(.didRenew))
    try await first.leave()
    let filler = ProducerRecord(
      topic: cluster.input, partition: 0, key: [1], value: [UInt8](repeating: 7, count: 900_000))
    for _ in 0..<8 { try await cluster.write([filler]) }
    let notifications = try await cluster.receive(.didRenew)

    let errors = ErrorLog()
    let second = try await cluster.start(logger: errors.logger)
    try await cluster.events(for: notifications)
    try await second.leave()
    let line = errors.lines.first { $0.hasPrefix("records were deleted") }
    #expect(line?.contains("source=\(cluster.input)[0]") == true, "\(errors.lines)")
  }

  @Test(arguments: ClusterKind.available)
  func `a lane does not start at an offset beyond the end of its topic`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind, lanes: 1)
    try await cluster.receive(.didRenew)
    try await cluster.commit(1_000)
    let worker = try await cluster.start()
    let error = try #require(await worker.failure() as? MillraceError)
    #expect(error.problems.first?.place == "\(cluster.input)[0]")
    #expect(try await cluster.events().isEmpty)
  }
}

extension WorkerCluster {
  /// Commits an offset for the first partition of the first input, as the worker's group.
  fileprivate nonisolated func commit(_ offset: Int64) async throws {
    let reader = try log.makeReader(group: topics.group, topics: topics.sources, options: LogReaderOptions())
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await reader.run() }
      defer { reader.shutDown() }
      for await event in reader.events {
        guard case .assigned = event else { continue }
        try await reader.commit([CommittedOffset(TopicPartition(topic: input, partition: 0), offset: offset)])
        return
      }
    }
  }
}
