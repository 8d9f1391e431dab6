// Replays to a worker, with the real runtime on an in-memory log, and requests that are refused before anything is
// written.

import AppStore
import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceWorker
import MillraceTesting
import Synchronization
import Testing

@testable import Operations

/// Publishes whether the record was reapplied.
private struct Teller: NotificationWorker {
  static let name = "teller"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    try .emit(Told(isReapplied: context.isReapplied))
  }

  struct Told: WorkerEvent {
    static let eventName = "told"
    var isReapplied: Bool
  }
}

@Suite(.timeLimit(.minutes(15))) struct ReplayOperationTests {
  private static let topic = "appstore.notifications.subscriptions"
  private static let patience = Duration.seconds(120)

  private static func request(
    to target: ReplayRequest.Target = .worker("teller"), _ change: (inout RecordSelection) -> Void = { _ in }
  ) -> ReplayRequest {
    var selection = RecordSelection()
    selection.topics = [topic]
    change(&selection)
    return ReplayRequest(selection, to: target)
  }

  @Test func `in a rehearsal, times are rehearsal times, and the copies carry them`() async throws {
    let time = ManualClock()
    let clock = MillraceClock(
      wallTime: { time.clock.wallTime - .seconds(200 * 86_400) }, elapsed: { time.clock.now.elapsed },
      isSimulated: true, sleepUntil: { try await time.clock.sleep(until: .init(elapsed: $0)) })
    let log = InMemoryLog(clock: time.clock)
    for topic in [Self.topic, "target", "millrace.operations", "millrace.audit"] {
      try log.createTopic(topic, partitions: 1)
    }
    let begin = clock.wallTime
    for number in 0..<5 as Range<UInt8> {
      try log.append(ProducerRecord(topic: Self.topic, partition: 0, value: [number]).timed(by: clock))
      time.advance(by: .seconds(60))
    }
    let replay = ReplayOperation(on: log, prefix: "", author: "ann", clock: time.clock, recordClock: clock)
    #expect(replay.wallTime == clock.wallTime)
    let request = Self.request(to: .topic("target")) {
      ($0.since, $0.until) = (begin + .seconds(60), begin + .seconds(180))
    }
    let plan = try await replay.plan(request)
    #expect(try await replay.survey(plan).chosen == 2)
    var limited = request
    limited.limit = 1
    #expect(try await replay.survey(try await replay.plan(limited)).chosen == 1)
    let run = try #require(try await replay.begin(plan))
    try await replay.carryOut(run.id)
    let copies = log.records(in: "target")
    #expect(copies.map(\.value) == [[1], [2]])
    for copy in copies {
      #expect(copy.headers.filter { $0.name == "millrace-time" }.count == 1)
      #expect(copy.time(by: clock) == clock.wallTime)
    }
  }

  @Test func `a plain run repeats nothing, a reapplied one publishes differences, and both are audited`()
    async throws
  {
    try await WorkerHarness.run(Teller.self) { harness in
      try await harness.receive(.expired, .voluntary)
      try await harness.receive(.didRenew)
      let replay = ReplayOperation(on: harness.log, prefix: "", author: "ann")
      var request = Self.request { $0.types = ["EXPIRED"] }
      let survey = try await replay.survey(try await replay.plan(request))
      #expect(survey.chosen == 1 && survey.read == 2 && survey.types == ["EXPIRED/VOLUNTARY": 1])
      #expect(survey.sentence == "1 of 2 records would be sent." && survey.samples.count == 1)
      #expect(harness.log.records(in: harness.topics.operations).isEmpty, "a dry run writes no commands")

      let plain = try #require(try await replay.begin(try await replay.plan(request)))
      let end = try #require(try await replay.follow(plain.id, patience: Self.patience) { _ in })
      #expect(end.state == .done && end.sent == 1 && end.sentence == "1 record sent." && end.status == .success)
      try await harness.settle()
      let before = try await harness.events()
      #expect(before.count == 2)

      request.reapply = "the text was wrong"
      let second = try #require(try await replay.begin(try await replay.plan(request)))
      _ = try await replay.follow(second.id, patience: Self.patience) { _ in }
      try await harness.settle()
      let after = try await harness.events()
      #expect(after.count == 3)
      let new = try #require(after.first { event in !before.contains { $0.id == event.id } })
      #expect(new.record.headers.contains { $0.name == "ce_supersedes" })

      let entries = try await AuditLog(on: harness.log, prefix: "").trail().entries
      #expect(entries.map(\.action) == [.replay, .reapply] && entries.map(\.by) == ["ann", "ann"])
      #expect(entries.map(\.result) == [.done, .done] && entries.map(\.why) == [nil, "the text was wrong"])
      #expect(entries.allSatisfy { $0.counts == [.init("sent", 1)] && $0.target == "teller" })
      #expect(entries.first?.selection?["types"] == ["EXPIRED"])
      #expect(try await replay.book().runs.map(\.state) == [.done, .done])
    }
  }

  @Test func `a limit selects the first records, and another operator can control the run`() async throws {
    try await WorkerHarness.run(Teller.self) { harness in
      for _ in 0..<30 { try await harness.receive(.didRenew) }
      let replay = ReplayOperation(on: harness.log, prefix: "", author: "ann")
      var request = Self.request()
      request.limit = 7
      let limited = try #require(try await replay.begin(try await replay.plan(request)))
      let end = try #require(try await replay.follow(limited.id, patience: Self.patience) { _ in })
      #expect(end.sent == 7)

      request.limit = nil
      // The harness's time does not advance, so a run with a rate sends its first batch and waits.
      request.rate = 2
      let slow = try #require(try await replay.begin(try await replay.plan(request)))
      let bob = ReplayOperation(on: harness.log, prefix: "", author: "bob")
      #expect(try await bob.control(String(slow.id.prefix(8)), .pause)?.id == slow.id)
      #expect(try await bob.book()[slow.id]?.state == .paused)
      _ = try await bob.control(slow.id, .resume)
      _ = try await bob.control(slow.id, .stop)
      let stopped = try #require(try await replay.follow(slow.id, patience: Self.patience) { _ in })
      #expect(stopped.state == .stopped && stopped.sent < 30 && stopped.status == .success)
      let error = await #expect(throws: OperationError.self) { try await bob.control(slow.id, .resume) }
      #expect(error?.what == "the run is already stopped")
      let steps = try await AuditLog(on: harness.log, prefix: "").trail().entries.filter { $0.by == "bob" }
      #expect(steps.map(\.action) == [.pause, .resume, .stop] && steps.allSatisfy(\.isOver))
    }
  }

  @Test func `a time range is selected if the log supports time lookups`() async throws {
    try await WorkerHarness.run(Teller.self) { harness in
      try await harness.receive(.didRenew)
      try await harness.advance(by: .seconds(3_600))
      let noon = harness.clock.wallTime
      try await harness.receive(.didRenew)
      let replay = ReplayOperation(on: harness.log, prefix: "", author: "ann")
      for (since, until, count) in [(noon, nil, 1), (nil, noon, 1), (noon, noon + .seconds(1), 1)]
        as [(Timestamp?, Timestamp?, Int)]
      {
        let request = Self.request { ($0.since, $0.until) = (since, until) }
        #expect(try await replay.survey(try await replay.plan(request)).chosen == count)
      }
      let later = Self.request { $0.since = noon + .seconds(10) }
      #expect(try await replay.plan(later).parts.isEmpty)
      #expect(try await replay.begin(try await replay.plan(later)) == nil, "an empty selection starts no run")
    }
  }

  @Test func `an impossible request is refused before any write, and the error names the flag`() async throws {
    let log = InMemoryLog(clock: ManualClock().clock)
    for name in ["millrace.teller.dead-letters", "millrace.teller.replay", Self.topic] {
      try log.createTopic(name, partitions: 2)
    }
    for name in ["millrace.operations", "millrace.audit", "one"] { try log.createTopic(name, partitions: 1) }
    try log.append(ProducerRecord(topic: Self.topic, partition: 0, value: [1]))
    let replay = ReplayOperation(on: log, prefix: "", author: "ann")
    let moment = Timestamp(millisecondsSince1970: 5)
    let table: [(ReplayRequest, String)] = [
      (Self.request { $0.topics = [] }, "--topic"), (Self.request { $0.topics = ["none"] }, "--topic none"),
      (Self.request { $0.topics = ["one"] }, "--topic"), (Self.request { $0.partitions = [2] }, "--partition"),
      (Self.request { $0.from = 0 }, "--from, --to"),
      (Self.request { ($0.partitions, $0.from, $0.to) = ([0], 1, 1) }, "--from, --to"),
      (Self.request { ($0.partitions, $0.from, $0.to) = ([0], 0, 2) }, "--from, --to"),
      (Self.request { ($0.partitions, $0.from) = ([1], 0) }, "--from, --to"),
      (Self.request { ($0.since, $0.until) = (moment, moment) }, "--since, --until"),
      (Self.request { $0.reasons = ["x"] }, "--reason"), (Self.request(to: .worker("No Name")), "--worker"),
      (Self.request(to: .worker("nobody")), "--worker nobody"), (Self.request(to: .topic("none")), "--to-topic none"),
      (Self.request(to: .topic(Self.topic)), "--to-topic"),
      (Self.request(to: .topic("millrace.teller.ledger")), "--to-topic"),
    ]
    for (request, flag) in table {
      let error = await #expect(throws: OperationError.self, "\(request)") { try await replay.plan(request) }
      #expect(error?.place == flag && error?.kind == .usage, "\(String(describing: error))")
    }
    var reapplied = Self.request(to: .topic("one"))
    reapplied.reapply = "why"
    let error = await #expect(throws: OperationError.self) { try await replay.plan(reapplied) }
    #expect(error?.place == "--reapply")
    #expect(log.records(in: "millrace.operations").isEmpty && log.records(in: "millrace.audit").isEmpty)
    let unknown = await #expect(throws: OperationError.self) { try await replay.control("x", .stop) }
    #expect(unknown?.remedy == "copy an id from millrace replay list")
  }

  @Test func `the embedded cluster cannot look up times, and the command reports that`() async throws {
    let cluster = try EmbeddedCluster(brokers: 1)
    for name in [Self.topic, "millrace.teller.replay", "millrace.teller.dead-letters"] {
      try cluster.createTopic(name, partitions: 1)
    }
    try cluster.createTopic("millrace.operations", partitions: 1)
    let kafka = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers, clientID: "test")
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
    let replay = ReplayOperation(on: log, prefix: "", author: "ann")
    let error = await #expect(throws: OperationError.self) {
      try await replay.plan(Self.request { $0.since = Timestamp(millisecondsSince1970: 0) })
    }
    #expect(error?.place == "--since" && error?.what.contains("embedded") == true)
  }
}
