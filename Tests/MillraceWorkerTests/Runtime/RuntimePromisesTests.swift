// Tests a worker's promises during failures of its processes, with the real runtime on the in-memory log. Random schedules of
// failures are in the simulation (docs/proof.md).

import AppStore
import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceTesting
import TestEnvironment
import Testing

@testable import MillraceCore
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct RuntimePromisesTests {
  private static let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)

  @Test func `the outcomes of a failed commit are written again, and no handler runs twice`() async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    for number in 0..<60 { try fleet.put("n\(number)", key: "k\(number % 9)") }
    let process = fleet.start("p", FleetHandler(book))
    for round in 0..<20 {
      let operation: [LogOperation] = [.send, .sendOffsets, .commitTransaction, .abortTransaction]
      process.log.fail(
        operation[round % 4], with: [Self.away], reach: round.isMultiple(of: 3) ? .unacknowledged : .refused)
      for number in 0..<5 { try fleet.put("n\(60 + round * 5 + number)", key: "k\(number)") }
      await fleet.until { book.runs.count == 65 + round * 5 }
    }
    #expect(await fleet.until { fleet.answered().count == 160 && fleet.isRead() } != nil)
    #expect(book.runs.values.allSatisfy { $0 == 1 })
    #expect(Set(fleet.eventIDs()).count == 160)
    await process.crash()
  }

  @Test func `restarting three workers one after the other neither repeats nor loses work`() async throws {
    let fleet = try WorkerFleet(lanes: 6)
    let book = Book()
    let clock = fleet.time.clock
    let handler = FleetHandler(book) { item, recorder in
      try await clock.sleep(until: clock.now.advanced(by: .milliseconds(100)))
      return try await FleetHandler.answer(item, recorder)
    }
    var processes = (0..<3).map { fleet.start("p\($0)", handler) }
    var count = 0
    func feed() throws {
      for _ in 0..<20 {
        try fleet.put("n\(count)", key: "k\(count % 31)")
        count += 1
      }
    }
    for round in 0..<6 {
      try feed()
      await fleet.until { fleet.answered().count > count - 20 }
      try feed()
      let leaving = processes[round % 3]
      await leaving.leave()
      #expect(try #require(await fleet.end(of: leaving), "it did not leave").error == nil)
      processes[round % 3] = fleet.start("p\(round % 3)r\(round)", handler)
    }
    #expect(await fleet.until { Set(fleet.answered()).count == count && fleet.isRead() } != nil)
    #expect(fleet.answered().count == count)
    #expect(book.runs.values.allSatisfy { $0 == 1 }, "a handler ran twice")
    for key in 0..<31 {
      let own = book.order.compactMap { Int($0.dropFirst()) }.filter { $0 % 31 == key }
      #expect(own == own.sorted(), "key \(key) out of order")
    }
    for process in processes { await process.crash() }
  }

  @Test(arguments: [200, 400, 700, 1_000, 1_500])
  func `a commit in flight while its lane moves is not accepted in the next generation`(
    latency: Int64
  ) async throws {
    let fleet = try WorkerFleet(lanes: 2) { $0.drainTimeout = .milliseconds(500) }
    let book = Book()
    let first = fleet.start("p", FleetHandler(book))
    for number in 0..<8 { try fleet.put("before\(number)", key: "k\(number)") }
    #expect(await fleet.until { fleet.answered().count == 8 && fleet.isRead() } != nil)
    let ids = (0..<24).map { "n\($0)" }
    for (number, id) in ids.enumerated() { try fleet.put(id, key: "k\(number)") }
    await fleet.until(step: .milliseconds(5)) { book.runs.count > 8 }
    // The commit takes longer than the drain timeout.
    fleet.log.setLatency(.milliseconds(latency))
    let second = fleet.start("q", FleetHandler(book))
    // With slow requests, transactions time out and runtimes end. The process survives and publishes that, so no record
    // is poisoned.
    #expect(await fleet.until { fleet.answered().count >= 32 && fleet.isRead() } != nil)
    fleet.log.setLatency(.zero)
    #expect(await fleet.until { Set(fleet.answered()).isSuperset(of: ids) && fleet.isRead() } != nil)
    fleet.time.advance(by: .seconds(30))
    await fleet.until(within: .seconds(5)) { false }
    #expect(fleet.answered().count == 32, "an event was published twice")
    #expect(fleet.dead().isEmpty, "a record was poisoned without a crash")
    await first.crash()
    await second.crash()
  }

  @Test func `events, retries and dead letters carry the trace of their notification`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let traces = (0..<3).map { "00-4bf92f3577b34da6a3ce929d0e0e473\($0)-00f067aa0ba902b7-01" }
    for (id, trace) in zip(["ok", "late", "dead"], traces) {
      var record = fleet.record(id, key: id)
      record.headers.append(RecordHeader("traceparent", trace))
      try fleet.log.append(record)
    }
    try fleet.put("none", key: "none")
    let process = fleet.start(
      "p",
      FleetHandler(Book()) { item, recorder in
        if item.id == "dead" { throw HandlerError("no-use", "cannot be handled") }
        if item.id == "late", item.history.attempt == 0 { throw HandlerFailed("not yet") }
        return try await FleetHandler.answer(item, recorder)
      })
    #expect(await fleet.until { fleet.answered().count == 3 && fleet.dead().count == 1 } != nil)
    func trace(_ topic: String) -> [String: String] {
      let pairs = fleet.log.records(in: topic).map { record in
        let cause = WorkerFleet.header("ce_notificationid", of: record)
        return (
          cause.isEmpty ? WorkerFleet.header("ce_id", of: record) : cause, WorkerFleet.header("traceparent", of: record)
        )
      }
      return Dictionary(pairs) { $1 }
    }
    #expect(trace(fleet.topics.events) == ["ok": traces[0], "late": traces[1], "none": ""])
    #expect(trace(fleet.topics.retries[0]) == ["late": traces[1]])
    #expect(trace(fleet.topics.deadLetters) == ["dead": traces[2]])
    await process.crash()
  }

  @Test func `an effect is not caused before its intent is written, even by the next run`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let book = Book()
    let process = fleet.start(
      "p",
      FleetHandler(book) { item, recorder in
        let cause = Task { try await FleetHandler.cause("extend/one", recorder, in: book) }
        // The first run ends while its intent is being written.
        if item.id == "first" {
          try await waitUntil(book.runs["first"] != nil)
          try await fleet.time.clock.sleep(until: fleet.time.clock.now.advanced(by: .milliseconds(10)))
          return .ignore
        }
        try await cause.value
        return .ignore
      })
    #expect(await fleet.until { fleet.isRead() } != nil)
    fleet.log.setLatency(.seconds(1))
    try fleet.put("first", key: "k")
    #expect(await fleet.until { book.runs["first"] == 1 } != nil)
    try fleet.put("second", key: "k")
    var wasWritten = true
    #expect(
      await fleet.until(step: .milliseconds(5)) {
        let isWritten = (try? fleet.ledger().effect("extend/one")) != nil
        if book.calls["extend/one"] != nil { wasWritten = wasWritten && isWritten }
        return book.calls["extend/one"] != nil
      } != nil)
    #expect(wasWritten, "the effect was caused before its intent was in Kafka")
    await process.crash()
  }

  @Test func `refused offset commits during a rebalance do not delay outcomes`() async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: .atLeastOnce)
    let book = Book()
    let process = fleet.start("p", FleetHandler(book))
    try fleet.put("first", key: "k")
    #expect(await fleet.until { fleet.answered() == ["first"] && fleet.isRead() } != nil)
    // A retry of this call cannot succeed: the group waits until the member releases its lanes and rejoins.
    let refusal = KafkaError(code: .rebalanceInProgress, operation: "commit", reason: "test", isRetriable: true)
    process.log.fail(.commitOffsets, with: Array(repeating: refusal, count: 5))
    for number in 0..<5 {
      try fleet.put("n\(number)", key: "k")
      let wait = await fleet.until { fleet.answered().last == "n\(number)" }
      #expect(try #require(wait) < .milliseconds(500), "n\(number)")
    }
    // The next commit includes the refused offsets.
    try fleet.put("last", key: "k")
    #expect(await fleet.until { fleet.answered().last == "last" && fleet.isRead() } != nil)
    #expect(book.runs.values.allSatisfy { $0 == 1 })
    await process.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a commit after leaving the group does not fail a graceful stop`(
    commit: KafkaSettings.Commit
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: commit)
    let process = fleet.start("p", isKept: false, FleetHandler(Book()))
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    process.log.fail(
      commit == .transactional ? .sendOffsets : .commitOffsets,
      with: [KafkaError(code: .closed, operation: "commit", reason: "the group was left")])
    try fleet.put("n1", key: "k")
    await fleet.until(within: .seconds(2)) { false }
    await process.leave()
    #expect(try #require(await fleet.end(of: process, within: .seconds(60))).error == nil)
    let next = fleet.start("q", FleetHandler(Book()))
    #expect(await fleet.until { fleet.answered() == ["n0", "n1"] && fleet.isRead() } != nil)
    await next.crash()
  }
}
