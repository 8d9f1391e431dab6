// Runs against the simulated App Store. Every notification arrives, even if a process ends before the run is complete.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceTesting
import MillraceWorker
import Synchronization
import TestEnvironment
import Testing

@testable import AppStoreSimulator
@testable import Operations

@Suite("millrace backfill", .timeLimit(.minutes(15)))
struct BackfillOperationTests {
  private final class Reports: Sendable {
    private let all = Mutex<[BackfillReport]>([])
    var list: [BackfillReport] { all.withLock { $0 } }
    var take: @Sendable (BackfillReport) -> Void { { report in self.all.withLock { $0.append(report) } } }
  }

  /// A stage with undelivered notifications: this many purchases an hour, for this many hours.
  private func missed(
    _ purchases: Int = 9, hours: Int = 6, environments: [AppStoreEnvironment] = [.production],
    _ change: (inout SimulatorSettings) -> Void = { _ in }
  ) async throws -> BackfillStage {
    let stage = try BackfillStage(environments: environments, change)
    stage.set(.down)
    try await stage.delivering {
      for _ in 0..<hours {
        try stage.buy(purchases)
        try await stage.pass(.seconds(3_600))
      }
    }
    return stage
  }

  private func selection(_ stage: BackfillStage) -> BackfillSelection {
    BackfillSelection(targets: stage.targets, from: stage.now - .seconds(6 * 3_600 + 1_800), to: stage.now)
  }

  @Test("missed notifications are written as the ingress would have written them, and the run is recorded")
  func whole() async throws {
    let stage = try await missed(25, environments: [.production, .sandbox])
    let reports = Reports()
    let parts = try stage.parts()
    let operation = BackfillOperation(parts, report: reports.take)
    let run = try await operation.carryOut(
      try await operation.start(selection(stage), sliceLength: .seconds(7_200), by: "ann"))
    #expect(run.state == .done && run.status == .success)
    #expect(Set(stage.published()) == stage.told() && stage.told().count == 300)
    #expect(run.counts.published == stage.published().count && run.counts.quarantined == 0)
    for record in stage.catalog.notificationTopics.flatMap({ stage.log.records(in: $0.topic) }) {
      let envelope = NotificationEnvelope(record)
      #expect(envelope.problems.isEmpty && envelope.origin == .history && envelope.traceParent != nil)
      // The ingress makes the same record of the same bytes.
      var posted = try await stage.admission.v2(jws: try #require(record.value)).record(
        origin: .history, traceParent: envelope.traceParent, receivedAt: stage.now, router: stage.catalog.router)
      posted.event.extensions[AuditRecord.runAttribute] = run.id
      #expect(posted.producerRecord.headers == record.headers && posted.producerRecord.key == record.key)
      #expect(posted.topic == record.topic)
    }
    let table = try await parts.log.table()
    #expect(table.runs == [run] && table.marks(of: run.id).isEmpty)
    let trail = try await AuditLog(on: stage.log, prefix: "").trail()
    let entry = try #require(trail.entry(of: run.id, .backfill))
    #expect(entry.by == "ann" && entry.result == .done && entry.selection == run.selection.json)
    #expect(entry.counts.first { $0.name == "published" }?.count == Int64(run.counts.published))
    guard case .ended(run)? = reports.list.last else {
      Issue.record("the last of \(reports.list.count) reports is not the end")
      return
    }
  }

  @Test("if a process dies within its slices, the next one continues each slice")
  func crash() async throws {
    let stage = try await missed(45, hours: 4)
    let first = try stage.parts("first")
    let operation = BackfillOperation(first) { _ in }
    let begun = try await operation.start(selection(stage), sliceLength: .seconds(7_200), by: "ann")
    stage.appStore.interfere { interference in
      interference.before = { call in if call == 6, let log = first.log.log as? InMemoryLog { log.crash() } }
    }
    await #expect(throws: (any Error).self) { try await operation.carryOut(begun) }
    let before = stage.appStore.calls
    let left = try await stage.parts("look").log.table()
    #expect(left.marks(of: begun.id).values.contains { $0.token != nil && !$0.isDone }, "no slice was unfinished")
    #expect(Set(stage.published()) != stage.told())

    let second = BackfillOperation(try stage.parts("second")) { _ in }
    // Another process cannot take the run over while the first one may be alive.
    await #expect(throws: OperationError.self) { try await second.goOn(with: begun.id, by: "bob") }
    stage.pulse.advance(by: .seconds(16))
    let ended = try await second.carryOut(try await second.goOn(with: begun.id, by: "bob"))
    #expect(ended.state == .done && ended.id == begun.id)
    #expect(Set(stage.published()) == stage.told())
    // The run needs at least as many pages as 360 items and the ends of the slices. The second process reads only the
    // current page of each slice again.
    let pages = ended.counts.pages
    #expect(stage.appStore.calls - before < pages, "the run read everything again")
    #expect(ended.counts.published - stage.told().count <= 20 * 4)
    await #expect(throws: OperationError.self) { try await second.goOn(with: begun.id, by: "bob") }
  }

  @Test("a process that was assumed dead stops when another one owns its run")
  func zombie() async throws {
    let stage = try await missed(9, hours: 2)
    let first = try stage.parts("first")
    let zombie = BackfillOperation(first) { _ in }
    let begun = try await zombie.start(selection(stage), by: "ann")
    let look = BackfillLog(on: stage.log.process("look"), prefix: "")
    try await look.control(.pause, of: begun, by: "ann", at: stage.now, pulse: stage.pulse.clock.wallTime)
    let running = Task { try await zombie.carryOut(begun) }
    try await waitUntil(await look.table()[begun.id]?.state == .paused)
    let log = try #require(first.log.log as? InMemoryLog)
    log.pause()
    stage.pulse.advance(by: .seconds(16))
    let second = BackfillOperation(try stage.parts("second")) { _ in }
    let ended = try await second.carryOut(try await second.goOn(with: begun.id, by: "bob"))
    #expect(ended.state == .done && Set(stage.published()) == stage.told())
    log.resume()
    // Its last write before the pause does not count. It learns that at its next heartbeat.
    let isOver = Mutex(false)
    let watch = Task {
      _ = await running.result
      isOver.withLock { $0 = true }
    }
    try await stage.until {
      stage.pulse.advance(by: .seconds(1))
      return isOver.withLock { $0 }
    }
    await watch.value
    let error = await #expect(throws: OperationError.self) { try await running.value }
    #expect(error?.what.contains("another process") == true)
    #expect(try await look.table()[begun.id]?.state == .done)
  }

  @Test("if Apple rejects a page token, its slice starts again")
  func expired() async throws {
    let stage = try await missed(50, hours: 2) { $0.paginationTokenLifetime = .seconds(15) }
    stage.appStore.interfere { interference in
      // Shorter than the time limit of a call, which must not expire.
      interference.before = { call in if call == 3 { stage.time.advance(by: .seconds(20)) } }
    }
    let reports = Reports()
    var parts = try stage.parts()
    parts.parallel = 1
    let operation = BackfillOperation(parts, report: reports.take)
    let run = try await operation.carryOut(
      try await operation.start(selection(stage), sliceLength: .seconds(86_400), by: "ann"))
    #expect(run.state == .done && run.counts.restarts == 1)
    #expect(reports.list.contains { if case .restarted = $0 { true } else { false } })
    #expect(Set(stage.published()) == stage.told())
  }

  @Test("if Apple keeps rejecting tokens, the run ends with a recorded error")
  func neverTaken() async throws {
    let stage = try await missed(50, hours: 2) { $0.paginationTokenLifetime = .zero }
    let operation = BackfillOperation(try stage.parts()) { _ in }
    let begun = try await operation.start(selection(stage), by: "ann")
    let error = await #expect(throws: OperationError.self) { try await operation.carryOut(begun) }
    #expect(error?.what.contains("page tokens") == true)
    let kept = try #require(try await stage.parts().log.table()[begun.id])
    #expect(kept.state == .failed && kept.detail?.contains("page tokens") == true && kept.status == .failure)
    #expect(kept.sentence.contains("--run \(begun.id)"))
  }

  @Test("forged and unreadable items go to the quarantine, the other items of the page to their topics")
  func forged() async throws {
    let stage = try await missed(10, hours: 1)
    stage.appStore.interfere { interference in
      interference.after = { _, answer in
        guard var body = try? JSONObject(parsing: answer.body), case .array(var items)? = body["notificationHistory"],
          items.count > 3
        else { return answer }
        items[0] = .object(["signedPayload": "eyJhbGciOiJub25lIn0.e30."])
        items[1] = "no object"
        items[2] = .object(["sendAttempts": []])
        body["notificationHistory"] = .array(items)
        return ExchangeAnswer(status: answer.status, headers: answer.headers, body: body.serialized())
      }
    }
    let operation = BackfillOperation(try stage.parts()) { _ in }
    let run = try await operation.carryOut(
      try await operation.start(selection(stage), sliceLength: .seconds(86_400), by: "ann"))
    #expect(run.state == .done && run.status == .failure)
    #expect(run.counts.quarantined == 3 && run.counts.published == 7)
    #expect(
      stage.quarantined().map(\.reason) == [.malformed, .malformed, .malformed] || stage.quarantined().count == 3)
    #expect(Set(stage.published()).count == 7 && Set(stage.published()).isSubset(of: stage.told()))
    #expect(run.sentence.contains("quarantine"))
  }

  @Test("the run waits for Apple's failures and limits, and publishes a 429 to other processes")
  func waited() async throws {
    let stage = try await missed(10, hours: 1)
    // Counted, because time may advance before the first request. The first fault that applies counts.
    stage.services.inject(Fault(.failure(status: 503, body: .html), count: 1))
    stage.services.inject(Fault(.tooManyRequests(.milliseconds(from: .seconds(90))), count: 1))
    let reports = Reports()
    let pauses = Mutex<[BudgetPause]>([])
    let operation = BackfillOperation(
      try stage.parts(onPause: { pause in pauses.withLock { $0.append(pause) } }), report: reports.take)
    let begun = try await operation.start(selection(stage), sliceLength: .seconds(86_400), by: "ann")
    let running = Task { try await operation.carryOut(begun) }
    let isOver = Mutex(false)
    let watch = Task {
      _ = await running.result
      isOver.withLock { $0 = true }
    }
    try await stage.until {
      // A call in progress must not reach its time limit.
      if stage.appStore.inFlight == 0 { stage.time.advance(by: .seconds(1)) }
      return isOver.withLock { $0 }
    }
    await watch.value
    #expect(try await running.value.state == .done)
    #expect(Set(stage.published()) == stage.told())
    #expect(pauses.withLock { $0.count } == 1)
    #expect(reports.list.contains { if case .waiting(_, let words, _) = $0 { words.contains("503") } else { false } })
    #expect(stage.services.report.broken.isEmpty)
  }

  @Test("a key that Apple refuses ends the run, because waiting would not help")
  func unauthorized() async throws {
    let stage = try await missed(1, hours: 1)
    stage.services.inject(Fault(.unauthorized, from: stage.now, until: stage.now + .seconds(86_400)))
    let operation = BackfillOperation(try stage.parts()) { _ in }
    let begun = try await operation.start(selection(stage), by: "ann")
    let error = await #expect(throws: APIError.self) { try await operation.carryOut(begun) }
    #expect(FailureReport(try #require(error)).status == .configuration)
  }

  @Test("another operator can pause and stop a run")
  func controls() async throws {
    let stage = try await missed(45, hours: 4)
    let operation = BackfillOperation(try stage.parts()) { _ in }
    let look = BackfillLog(on: stage.log.process("look"), prefix: "")
    let begun = try await operation.start(selection(stage), sliceLength: .seconds(1_800), by: "ann")
    try await look.control(.pause, of: begun, by: "bob", at: stage.now, pulse: stage.pulse.clock.wallTime)
    let running = Task { try await operation.carryOut(begun) }
    // The run is paused from its start and sends no requests.
    try await waitUntil(await look.table()[begun.id]?.state == .paused)
    #expect(stage.appStore.calls == 0)
    // Another run on the same history is refused until this one ends.
    let rival = BackfillOperation(try stage.parts("rival")) { _ in }
    let error = await #expect(throws: OperationError.self) { try await rival.start(selection(stage), by: "bob") }
    #expect(error?.what.contains(begun.id) == true)

    try await look.control(.stop, of: begun, by: "bob", at: stage.now, pulse: stage.pulse.clock.wallTime)
    let isOver = Mutex(false)
    let watch = Task {
      _ = await running.result
      isOver.withLock { $0 = true }
    }
    try await stage.until {
      stage.pulse.advance(by: .seconds(1))
      return isOver.withLock { $0 }
    }
    await watch.value
    #expect(try await running.value.state == .stopped)
    let trail = try await AuditLog(on: stage.log, prefix: "").trail()
    #expect(trail.entry(of: begun.id, .backfill)?.result == .stopped)
    #expect(trail.entry(of: begun.id, .pause)?.by == "bob" && trail.entry(of: begun.id, .stop)?.by == "bob")
    await #expect(throws: OperationError.self) {
      try await look.control(.resume, of: running.value, by: "b", at: stage.now, pulse: stage.pulse.clock.wallTime)
    }
  }

  @Test("a stop ends a run whose process is gone, and a process that was only paused does not continue it")
  func stopOfTheDead() async throws {
    let stage = try await missed(9, hours: 2)
    let away = BackfillOperation(try stage.parts("away")) { _ in }
    let begun = try await away.start(selection(stage), by: "ann")
    let look = BackfillLog(on: stage.log.process("look"), prefix: "")
    let audit = AuditLog(on: stage.log, prefix: "")
    stage.pulse.advance(by: .seconds(61))
    let now = stage.pulse.clock.wallTime
    let status = try await audit.survey(at: stage.now + .seconds(61)).lines().map(\.status)
    #expect(status == [.silent(since: begun.startedAt)])
    #expect(try await look.control(.stop, of: begun, by: "bob", at: stage.now, pulse: now))
    #expect(try await look.table()[begun.id]?.state == .stopped)
    let trail = try await audit.trail()
    #expect(trail.entry(of: begun.id, .backfill)?.result == .stopped && trail.entry(of: begun.id, .stop)?.by == "bob")
    // Apple does not respond, so the run cannot complete before it reads the stop.
    stage.appStore.interfere { interference in
      interference.before = { (_) async throws(TransportFailure) in throw TransportFailure("no answer", .notSent) }
    }
    // It learns either that another process owns the run or that the run was stopped.
    do {
      #expect(try await away.carryOut(begun).state == .stopped)
    } catch let error as OperationError {
      #expect(error.what == "another process took over the run")
    }
    #expect(stage.published().isEmpty)
    #expect(try await look.table()[begun.id]?.state == .stopped)
    await #expect(throws: OperationError.self) { try await away.goOn(with: begun.id, by: "ann") }
  }

  @Test("what Apple no longer keeps is reported, and the rest is fetched")
  func outOfReach() async throws {
    let stage = try await missed(5, hours: 2)
    let reports = Reports()
    let operation = BackfillOperation(try stage.parts(), report: reports.take)
    let begun = try await operation.start(selection(stage), sliceLength: .seconds(1_800), by: "ann")
    // The run was left for half a year: Apple still keeps the last hour and a half of it.
    stage.time.advance(by: .seconds(180 * 86_400 - 5_400))
    let run = try await operation.carryOut(begun)
    #expect(run.state == .done)
    #expect(reports.list.contains { if case .outOfReach = $0 { true } else { false } })
    #expect(!stage.published().isEmpty && Set(stage.published()) != stage.told())
  }

  @Test("a transaction that is in no customer's history is not an error")
  func customer() async throws {
    let stage = try await missed(3, hours: 1, environments: [.production, .sandbox])
    let id = try #require(stage.world.withState { state in state.transactions.keys.min() })
    var selection = selection(stage)
    selection.transactionId = "\(id)"
    let operation = BackfillOperation(try stage.parts()) { _ in }
    let run = try await operation.carryOut(try await operation.start(selection, by: "ann"))
    #expect(run.state == .done && stage.published().count == 1)
  }

  @Test("a missing topic is reported before any request")
  func topics() async throws {
    let stage = try await missed(1, hours: 1)
    let empty = InMemoryLog(clock: stage.clock)
    var parts = try stage.parts()
    parts.log = BackfillLog(on: empty, prefix: "")
    let operation = BackfillOperation(parts) { _ in }
    let error = await #expect(throws: OperationError.self) { try await operation.start(selection(stage), by: "ann") }
    #expect(error?.place == "millrace.backfills" && error?.remedy.contains("topics apply") == true)
    #expect(stage.appStore.calls == 0)
  }
}
