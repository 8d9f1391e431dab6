// An operator against the real runtime over a log in memory: what is asked, what the lane does, what is told.

import AppStore
import Clocks
import Kafka
import Millrace
import MillraceTesting
import Synchronization
import Testing

@testable import Operations

/// Cannot handle a grace period's end until an operator sends it again; publishes whether it was asked to reapply.
private struct Moody: NotificationWorker {
  static let name = "moody"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome {
    if case .gracePeriodExpired = notification.event, notification.provenance.replay == nil {
      throw PermanentFailure("no-template", "there is no template for it")
    }
    return try .emit(Told(isReapplied: context.isReapplied))
  }

  struct Told: WorkerEvent {
    static let eventName = "told"
    var isReapplied: Bool
  }
}

/// Takes reports in the order they come.
private final class Reports: Sendable {
  private let all = Mutex<[OperationReport]>([])

  var events: [OperationReport.Event] { all.withLock { $0.map(\.event) } }
  var take: @Sendable (OperationReport) throws -> Void { { report in self.all.withLock { $0.append(report) } } }
}

@Suite(.timeLimit(.minutes(5))) struct WorkerOperationsTests {
  private static let patience = Duration.seconds(30)

  private func operations(_ log: any RecordLog, by author: String) throws -> WorkerOperations {
    try WorkerOperations(worker: Moody.name, prefix: "", on: log, author: author)
  }

  @Test func `a dead letter that is requeued is handled, and who asks second learns who was first`() async throws {
    try await WorkerHarness.run(Moody.self) { harness in
      let notification = try await harness.receive(.gracePeriodExpired)
      let ann = try operations(harness.log, by: "ann")
      let letters = try await ann.deadLetters()
      #expect(letters.map(\.reason) == ["no-template"] && letters.map(\.state) == ["open"])
      #expect(letters.first?.notificationID == notification.id && letters.first?.type == "GRACE_PERIOD_EXPIRED")
      let id = try #require(letters.first?.id)

      let reports = Reports()
      let summary = try await ann.requeue(
        [id, id], why: "there is one now", patience: Self.patience, report: reports.take)
      #expect(reports.events == [.accepted, .done])
      #expect(summary.status == .success && summary.sentence == "1 sent again.")
      try await harness.settle()
      #expect(try await harness.events().map(\.name) == ["told"])
      #expect(try await harness.deadLetters().count == 1)

      let late = Reports()
      let second = try await operations(harness.log, by: "bob").requeue(
        [id], why: "me too", patience: Self.patience, report: late.take)
      #expect(second.status == .failure && second.lost == 1)
      guard case .lost(let by, _, let why, let standing)? = late.events.first, late.events.count == 1 else {
        Issue.record("\(late.events)")
        return
      }
      #expect(by == "ann" && why == "there is one now" && standing == "sent again")
      try await harness.settle()
      #expect(try await harness.events().count == 1)
      #expect(try await ann.deadLetters().map(\.state) == ["sent again"])
      #expect(try await ann.deadLetters().map(\.by) == ["ann"])
      #expect(try await ann.deadLetters(isOpenOnly: true).isEmpty)
      #expect(try await ann.deadLetters(reasons: ["crashed-the-process"]).isEmpty)
    }
  }

  @Test func `a plain replay does nothing twice; one that reapplies publishes what differs`() async throws {
    try await WorkerHarness.run(Moody.self) { harness in
      let fixture = try await harness.receive(.expired, .voluntary)
      let topic = fixture.producerRecord.topic
      let stored = try #require(harness.log.records(in: topic).last)
      let ann = try operations(harness.log, by: "ann")
      var request = ReplayRequest(
        topic: topic, partition: stored.partition, from: stored.offset, to: stored.offset + 1)

      let plain = Reports()
      #expect(try await ann.replay(request, patience: Self.patience, report: plain.take).status == .success)
      #expect(plain.events == [.accepted, .done])
      try await harness.settle()
      #expect(harness.log.records(in: harness.topics.replay).count == 1)
      let before = try await harness.events()
      #expect(before.map(\.name) == ["told"])

      request.reapply = "the text was wrong"
      #expect(try await ann.replay(request, patience: Self.patience, report: Reports().take).status == .success)
      try await harness.settle()
      #expect(harness.log.records(in: harness.topics.replay).count == 2)
      let after = try await harness.events()
      #expect(after.count == 2)
      let new = try #require(after.first { $0.id != before.first?.id })
      let supersedes = new.record.headers.last { $0.name == "ce_supersedes" }?.value
      #expect(supersedes.map { String(decoding: $0, as: UTF8.self) } == before.first?.id)
    }
  }

  @Test func `a long replay tells how far it is`() async throws {
    var setup = WorkerHarness.Setup()
    setup.lanes = 1
    try await WorkerHarness.run(Moody.self, setup) { harness in
      let fixture = try await harness.receive(.didRenew)
      for _ in 1..<500 { try harness.log.append(fixture.producerRecord) }
      try await harness.settle()
      let reports = Reports()
      let summary = try await operations(harness.log, by: "ann").replay(
        ReplayRequest(topic: fixture.producerRecord.topic, partition: 0, from: 0, to: 500), patience: Self.patience,
        report: reports.take)
      #expect(summary.done == 1)
      let sent = reports.events.compactMap { event in
        if case .progress(_, let sent, let total) = event, total == 500 { sent } else { nil }
      }
      #expect(!sent.isEmpty && sent == sent.sorted())
      try await harness.settle()
      #expect(harness.log.records(in: harness.topics.replay).count == 500)
      #expect(try await harness.events().count == 1)
    }
  }

  @Test func `without a worker the command stands and is reported unanswered`() async throws {
    let log = InMemoryLog(clock: ManualClock().clock)
    for name in ["millrace.moody.dead-letters", "millrace.moody.replay"] { try log.createTopic(name, partitions: 2) }
    try log.createTopic("millrace.operations", partitions: 1)
    try log.append(
      ProducerRecord(topic: "millrace.moody.dead-letters", partition: 1, key: [1], value: [1], headers: []))
    let reports = Reports()
    let summary = try await operations(log, by: "ann").requeue(
      [DeadLetterID(lane: 1, offset: 0)], why: "x", patience: .milliseconds(10), report: reports.take)
    #expect(summary.unanswered == 1 && summary.status == .failure && reports.events.last == .unanswered)
    #expect(log.records(in: "millrace.operations").count == 1)
  }

  @Test func `what is not there is refused before anything is asked`() async throws {
    let log = InMemoryLog(clock: ManualClock().clock)
    let ann = try operations(log, by: "ann")
    await #expect(throws: OperationError.self) { try await ann.deadLetters() }
    for name in ["millrace.moody.dead-letters", "millrace.moody.replay", "two"] {
      try log.createTopic(name, partitions: 2)
    }
    for name in ["millrace.operations", "one"] { try log.createTopic(name, partitions: 1) }
    for id in [DeadLetterID(lane: 1, offset: 0), DeadLetterID(lane: 7, offset: 0)] {
      await #expect(throws: OperationError.self) {
        try await ann.requeue([id], why: "x", patience: .seconds(1), report: Reports().take)
      }
    }
    let table: [(String, Int32, Int64, Int64)] = [
      ("none", 0, 0, 1), ("one", 0, 0, 1), ("two", 2, 0, 1), ("two", -1, 0, 1), ("two", 0, 1, 1), ("two", 0, 0, 1),
    ]
    for (topic, partition, from, to) in table {
      await #expect(throws: OperationError.self, "\(topic)[\(partition)] \(from) \(to)") {
        try await ann.replay(
          ReplayRequest(topic: topic, partition: partition, from: from, to: to), patience: .seconds(1),
          report: Reports().take)
      }
    }
    #expect(log.records(in: "millrace.operations").isEmpty)
    #expect(throws: OperationError.self) {
      try WorkerOperations(worker: "No Name", prefix: "", on: log, author: "ann")
    }
  }
}
