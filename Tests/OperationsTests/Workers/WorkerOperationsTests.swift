// Tests dead letter commands with the real runtime on an in-memory log: the commands, what the lane does, and the
// reports.

import AppStore
import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceWorker
import MillraceTesting
import Synchronization
import Testing

@testable import Operations

/// Fails on the end of a grace period until an operator requeues it. Publishes whether the record was reapplied.
private struct Moody: NotificationWorker {
  static let name = "moody"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    if case .gracePeriodExpired = notification.event, notification.history.replay == nil {
      return .deadLetter("no-template", "there is no template for it")
    }
    return try .emit(Told(isReapplied: context.isReapplied))
  }

  struct Told: WorkerEvent {
    static let eventName = "told"
    var isReapplied: Bool
  }
}

/// Fails on every notification.
private struct Hopeless: NotificationWorker {
  static let name = "hopeless"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    .deadLetter("no-template", "there is no template for it")
  }
}

/// Collects reports in order.
private final class Reports: Sendable {
  private let all = Mutex<[OperationReport]>([])

  var events: [OperationReport.Event] { all.withLock { $0.map(\.event) } }
  var take: @Sendable (OperationReport) throws -> Void { { report in self.all.withLock { $0.append(report) } } }
}

@Suite(.timeLimit(.minutes(15))) struct WorkerOperationsTests {
  private static let patience = Duration.seconds(120)

  private func operations(_ log: any RecordLog, by author: String) throws -> WorkerOperations {
    try WorkerOperations(worker: Moody.name, prefix: "", on: log, author: author)
  }

  @Test func `a requeued dead letter is handled, and a second requeue reports the first`() async throws {
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
      guard case .lost(let by, _, let why, let status)? = late.events.first, late.events.count == 1 else {
        Issue.record("\(late.events)")
        return
      }
      #expect(by == "ann" && why == "there is one now" && status == "sent again")
      try await harness.settle()
      #expect(try await harness.events().count == 1)
      #expect(try await ann.deadLetters().map(\.state) == ["sent again"])
      #expect(try await ann.deadLetters().map(\.by) == ["ann"])
      #expect(try await ann.deadLetters(isOpenOnly: true).isEmpty)
      #expect(try await ann.deadLetters(reasons: ["crashed-the-process"]).isEmpty)
    }
  }

  @Test func `an unreadable record among the commands is skipped and reported`() async throws {
    try await WorkerHarness.run(Moody.self) { harness in
      try await harness.receive(.gracePeriodExpired)
      let ann = try operations(harness.log, by: "ann")
      let id = try #require(try await ann.deadLetters().first?.id)
      for value in ["not JSON", #"{"text": "for people"}"#] {
        try harness.log.append(
          ProducerRecord(
            topic: harness.topics.operations, partition: 0, key: Array(value.utf8), value: Array(value.utf8)))
      }
      // A tombstone is not reported.
      try harness.log.append(
        ProducerRecord(topic: harness.topics.operations, partition: 0, key: Array("gone".utf8), value: nil))
      let summary = try await ann.requeue([id], why: "again", patience: Self.patience, report: Reports().take)
      #expect(summary.done == 1 && summary.status == .success)
      #expect(summary.passedOver.count == 2)
      #expect(summary.passedOver.first?.hasPrefix("millrace.operations[0]@0: the value is not valid JSON") == true)
      let notes = Mutex<[String]>([])
      let bob = try WorkerOperations(worker: ann.name, prefix: "", on: harness.log, author: "bob") { note in
        notes.withLock { $0.append(note) }
      }
      #expect(try await bob.deadLetters().count == 1)
      #expect(notes.withLock { $0 } == [try #require(summary.passedOver.sentence)])
    }
  }

  @Test func `a discarded dead letter stays in its topic, and cannot be requeued`() async throws {
    try await WorkerHarness.run(Moody.self) { harness in
      try await harness.receive(.gracePeriodExpired)
      let ann = try operations(harness.log, by: "ann")
      let id = try #require(try await ann.deadLetters().first?.id)
      let reports = Reports()
      let summary = try await ann.settle(
        [id], by: .discard, why: "a test purchase", patience: Self.patience, report: reports.take)
      #expect(reports.events == [.accepted, .done] && summary.sentence == "1 discarded.")
      let late = try await operations(harness.log, by: "bob").requeue(
        [id], why: "x", patience: Self.patience, report: Reports().take)
      #expect(late.lost == 1)
      try await harness.settle()
      #expect(harness.log.records(in: harness.topics.replay).isEmpty)
      let sheet = try await ann.deadLetter(id).letter
      #expect(sheet.state == "discarded" && sheet.why == "a test purchase" && sheet.wayBack.hasPrefix("none"))
    }
  }

  @Test func `dead letters are selected, counted in groups, and shown without personal data`()
    async throws
  {
    try await WorkerHarness.run(Moody.self) { harness in
      for _ in 0..<3 { try await harness.receive(.gracePeriodExpired) }
      let ann = try operations(harness.log, by: "ann")
      var selection = RecordSelection()
      selection.types = ["GRACE_PERIOD_EXPIRED"]
      #expect(try await ann.deadLetters(selection).count == 3)
      #expect(try await ann.deadLetters(selection, limit: 2).count == 2)
      selection.types = ["EXPIRED"]
      #expect(try await ann.deadLetters(selection).isEmpty)
      var elsewhere = RecordSelection()
      elsewhere.topics = ["appstore.notifications.refunds"]
      #expect(try await ann.deadLetters(elsewhere).isEmpty)
      elsewhere.topics = ["appstore.notifications.subscriptions"]
      let letters = try await ann.deadLetters(elsewhere)
      #expect(letters.count == 3)

      _ = try await ann.requeue([letters[0].id], why: "y", patience: Self.patience, report: Reports().take)
      let groups = try await ann.deadLetterGroups()
      #expect(groups.groups.map(\.key.reason) == ["no-template"] && groups.count == 3 && groups.open == 2)
      #expect(groups.groups.first?.key.app == letters[0].bundleId && groups.summary == "3 dead letters, 2 open.")
      #expect(try await ann.deadLetterGroups(isOpenOnly: true).count == 2)

      // A reason of the runtime, and one that a dead letter has.
      try await WorkerOperations.check(reasons: ["attempts-exhausted", "no-template"], of: [ann])
      for (reason, remedy) in [
        ("no-templat", "did you mean no-template?"), ("attempt-exhausted", "did you mean attempts-exhausted?"),
        ("weather", "millrace dead-letters list shows the reasons"),
      ] {
        let error = await #expect(throws: OperationError.self) {
          try await WorkerOperations.check(reasons: [reason], of: [ann])
        }
        #expect(error?.kind == .usage && error?.place == "--reason" && error?.remedy == remedy)
      }

      var (sheet, view) = try await ann.deadLetter(letters[1].id)
      sheet.answer = "no such customer"
      #expect(sheet.wayBack == "millrace dead-letters requeue \(letters[1].id) --worker moody --why …")
      let buyer = try #require(view.originalTransactionId)
      let (shown, hidden) = (sheet.jsonLine(of: view, withPayload: true), sheet.jsonLine(of: view, withPayload: false))
      #expect(shown.contains(buyer) && !hidden.contains(buyer))
      #expect(hidden.contains(#""answer":"no such customer""#) && !sheet.jsonLine.contains("no such customer"))
      let lines = sheet.lines(of: view, withPayload: false, usesColor: false).joined(separator: "\n")
      #expect(!lines.contains(buyer) && lines.contains("no-template") && lines.contains("requeue with"))
      #expect(lines.contains("no such customer"))
      #expect(sheet.lines(of: view, withPayload: true, usesColor: false).joined().contains(buyer))
    }
  }

  @Test func `two concurrent operators settle every dead letter exactly once, and both are in the audit trail`()
    async throws
  {
    try await WorkerHarness.run(Moody.self) { harness in
      for _ in 0..<40 { try await harness.receive(.gracePeriodExpired) }
      let ids = try await operations(harness.log, by: "ann").deadLetters().map(\.id)
      #expect(ids.count == 40)
      async let one = operations(harness.log, by: "ann").requeue(
        ids, why: "mended", patience: Self.patience, report: Reports().take)
      async let two = operations(harness.log, by: "bob").settle(
        ids.reversed(), by: .discard, why: "useless", patience: Self.patience, report: Reports().take)
      let (requeued, discarded) = try await (one, two)
      #expect(requeued.done + discarded.done == 40 && requeued.lost == discarded.done)
      #expect(discarded.lost == requeued.done && requeued.unanswered + discarded.unanswered == 0)
      try await harness.settle()
      let copies = harness.log.records(in: harness.topics.replay).map { DeliveryHistory($0).first }
      #expect(copies.count == requeued.done && Set(copies).count == copies.count)
      #expect(try await harness.events().count == requeued.done)
      let entries = try await AuditLog(on: harness.log, prefix: "").trail().entries
      #expect(Set(entries.map(\.by)) == ["ann", "bob"] && entries.allSatisfy(\.isOver))
      let sums = Dictionary(uniqueKeysWithValues: entries.map { ($0.action, $0.counts.first?.count) })
      #expect(sums == [.requeue: Int64(requeued.done), .discard: Int64(discarded.done)])
    }
  }

  @Test func `a requeued record that fails again returns with its history`() async throws {
    try await WorkerHarness.run(Hopeless.self) { harness in
      try await harness.receive(.gracePeriodExpired)
      let ann = try WorkerOperations(worker: Hopeless.name, prefix: "", on: harness.log, author: "ann")
      let first = try #require(try await ann.deadLetters().first)
      let summary = try await ann.requeue(
        [first.id], why: "there is one now", patience: Self.patience, report: Reports().take)
      try await harness.settle()
      let letters = try await ann.deadLetters()
      #expect(letters.map(\.state) == ["sent again", "open"])
      let again = try #require(letters.last)
      #expect(Array(again.causes.prefix(first.causes.count)) == first.causes)
      #expect(again.causes.count == first.causes.count + 1)
      #expect(again.causes.last?.hasSuffix("no-template: there is no template for it") == true)
      #expect(again.first == first.first)
      let sheet = try await ann.deadLetter(again.id).letter
      #expect(sheet.sentBy == "requeue \(summary.run ?? "") there is one now")
    }
  }

  @Test func `a stop leaves the remaining dead letters open`() async throws {
    try await WorkerHarness.run(Moody.self) { harness in
      for _ in 0..<5 { try await harness.receive(.gracePeriodExpired) }
      let ann = try operations(harness.log, by: "ann")
      let ids = try await ann.deadLetters().map(\.id)
      let log = harness.log
      // One a minute by the system clock, so the stop arrives long before the second one.
      let summary = try await ann.settle(
        ids, by: .requeue, why: "x", rate: 1, patience: Self.patience,
        begun: { run in
          let stop = RunControl(run: run, .stop, by: "bob", at: Timestamp(millisecondsSince1970: 0))
          try log.append(OperationsRecord.control(stop).producerRecord("millrace.operations"))
        }, report: Reports().take)
      #expect(summary.withheld + summary.done == 5 && summary.withheld > 0)
      try await harness.settle()
      #expect(try await ann.deadLetters(isOpenOnly: true).count == summary.withheld)
      let entry = try #require(try await AuditLog(on: log, prefix: "").trail().entries.first)
      #expect(entry.result == .stopped && entry.run == summary.run)
      await #expect(throws: OperationError.self) { try await ann.control(entry.run, .pause) }
    }
  }

  @Test func `without a worker the command stays valid and is reported as unanswered`() async throws {
    let log = InMemoryLog(clock: ManualClock().clock)
    for name in ["millrace.moody.dead-letters", "millrace.moody.replay"] { try log.createTopic(name, partitions: 2) }
    for name in ["millrace.operations", "millrace.audit"] { try log.createTopic(name, partitions: 1) }
    try log.append(
      ProducerRecord(topic: "millrace.moody.dead-letters", partition: 1, key: [1], value: [1], headers: []))
    let reports = Reports()
    let summary = try await operations(log, by: "ann").requeue(
      [DeadLetterID(lane: 1, offset: 0)], why: "x", patience: .milliseconds(10), report: reports.take)
    #expect(summary.unanswered == 1 && summary.status == .failure && reports.events.last == .unanswered)
    #expect(log.records(in: "millrace.operations").count == 1)
  }

  @Test func `a dead letter whose command failed is open, shows the failure, and takes another command`() async throws {
    let log = InMemoryLog(clock: ManualClock().clock)
    for name in ["millrace.moody.dead-letters", "millrace.moody.replay"] { try log.createTopic(name, partitions: 1) }
    for name in ["millrace.operations", "millrace.audit"] { try log.createTopic(name, partitions: 1) }
    let headers = [
      RecordHeader("millrace-reason", "no-template"), RecordHeader("millrace-detail", "d"),
      RecordHeader("millrace-remedy", "r"), RecordHeader("millrace-died-at", "0"),
    ]
    try log.append(
      ProducerRecord(topic: "millrace.moody.dead-letters", partition: 0, key: [1], value: [1], headers: headers))
    let id = DeadLetterID(lane: 0, offset: 0)
    let first = OperationCommand(
      id: "c1", item: OperationCommand.deadLetter(lane: 0, offset: 0), worker: "moody", lane: 0, action: .requeue,
      why: "x", by: "bob", at: Timestamp(millisecondsSince1970: 0))
    try log.append(OperationsRecord.command(first).producerRecord("millrace.operations"))
    let ann = try operations(log, by: "ann")
    #expect(try await ann.deadLetters(isOpenOnly: true).isEmpty, "bob's command is pending")
    let failed = OperationResult(first, .failed("no such topic"), at: Timestamp(millisecondsSince1970: 1))
    try log.append(OperationsRecord.result(failed).producerRecord("millrace.operations"))

    let letter = try #require(try await ann.deadLetters(isOpenOnly: true).first)
    #expect(letter.isOpen && letter.by == nil && letter.failure == "bob's requeue failed: no such topic")
    #expect(letter.row.map(\.text).contains("open, last command failed") && letter.jsonLine.contains("no such topic"))
    #expect(try await ann.deadLetterGroups(isOpenOnly: true).open == 1)
    let (sheet, view) = try await ann.deadLetter(id)
    #expect(sheet.wayBack == "millrace dead-letters requeue 0/0 --worker moody --why …")
    #expect(
      sheet.lines(of: view, withPayload: false, usesColor: false).contains { $0.contains("bob's requeue failed") })

    let summary = try await ann.requeue([id], why: "y", patience: .milliseconds(10), report: Reports().take)
    #expect(summary.lost == 0 && summary.unanswered == 1)
    #expect(try await ann.deadLetters().map(\.state) == ["not executed yet"])
    #expect(try await ann.deadLetters().map(\.by) == ["ann"])
    #expect(try await ann.deadLetters().first?.failure == nil)
  }

  @Test func `an unknown dead letter is refused before a command is written`() async throws {
    let log = InMemoryLog(clock: ManualClock().clock)
    let ann = try operations(log, by: "ann")
    await #expect(throws: OperationError.self) { try await ann.deadLetters() }
    for name in ["millrace.moody.dead-letters", "millrace.moody.replay"] { try log.createTopic(name, partitions: 2) }
    try log.createTopic("millrace.operations", partitions: 1)
    for id in [DeadLetterID(lane: 1, offset: 0), DeadLetterID(lane: 7, offset: 0)] {
      await #expect(throws: OperationError.self) {
        try await ann.requeue([id], why: "x", patience: .seconds(1), report: Reports().take)
      }
    }
    #expect(log.records(in: "millrace.operations").isEmpty)
    #expect(throws: OperationError.self) {
      try WorkerOperations(worker: "No Name", prefix: "", on: log, author: "ann")
    }
  }
}
