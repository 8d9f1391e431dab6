// Tests a worker's promises during failures of its processes, with the real runtime on the in-memory log.

import AppStore
import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceTesting
import Synchronization
import TestEnvironment
import Testing

@testable import MillraceCore
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct RuntimePromisesTests {
  private static let notifications = 120
  private static let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)

  @Test(arguments: UInt64(0)..<12)
  func `a reader of committed records finds each event once, through any failure of processes`(
    seed: UInt64
  ) async throws {
    try await survive(seed, .transactional)
  }

  @Test(arguments: UInt64(100)..<106)
  func `without transactions no event is missing and each has one ID`(seed: UInt64) async throws {
    try await survive(seed, .atLeastOnce)
  }

  private func survive(_ seed: UInt64, _ commit: KafkaSettings.Commit) async throws {
    var random = SeededGenerator(seed: seed)
    // Records that run during repeated crashes come under suspicion. Few records in flight end it sooner.
    let fleet = try WorkerFleet(lanes: 4, commit: commit) { policy in
      policy.recordsInFlight = 8
      policy.drainTimeout = .seconds(4)
    }
    let book = Book()
    let handler = FleetHandler(book) { item, recorder in
      let number = Int(item.id.dropFirst()) ?? 0
      if number.isMultiple(of: 3) { try await FleetHandler.cause("extend/\(item.id)", recorder, in: book) }
      if number.isMultiple(of: 7), item.history.attempt < 2 { throw HandlerFailed("not yet") }
      return try await FleetHandler.answer(item, recorder)
    }
    let ids = (0..<Self.notifications).map { "n\($0)" }
    for (number, id) in ids.enumerated() { try fleet.put(id, key: "k\(number % 17)") }
    var processes = (0..<3).map { fleet.start("p\($0)", handler) }
    for _ in 0..<60 {
      let index = Int.random(in: processes.indices, using: &random)
      switch Int.random(in: 0..<12, using: &random) {
      // Without transactions no fencing stops a zombie, which could repeat an effect of the lane's next owner.
      case 0: if commit == .transactional { processes[index].log.pause() }
      case 1, 2: processes[index].log.resume()
      case 3:
        await processes[index].crash()
        processes[index] = fleet.start("p\(index)", handler)
      case 4: processes[index].log.fail(.send, with: [Self.away], reach: .unacknowledged)
      case 5: processes[index].log.fail(.commitTransaction, with: [Self.away], reach: .unacknowledged)
      case 6: processes[index].log.fail(.sendOffsets, with: [Self.away])
      case 7: processes[index].log.fail(.commitOffsets, with: [Self.away])
      case 8:
        let number = Int.random(in: ids.indices, using: &random)
        try fleet.put(ids[number], key: "k\(number % 17)")
      default: fleet.time.advance(by: .milliseconds(Int64.random(in: 1...3_000, using: &random)))
      }
      for _ in 0..<Int.random(in: 0..<200, using: &random) { await Task.yield() }
    }
    for process in processes { process.log.resume() }
    let isDone = await fleet.until {
      Set(fleet.answered()).union(fleet.dead().keys).isSuperset(of: ids) && fleet.isRead()
    }
    #expect(isDone != nil, "seed \(seed): \(Set(ids).subtracting(fleet.answered()).sorted()) have no event")
    for process in processes { await process.crash() }

    let crashed = Set(fleet.dead().keys)
    #expect(Set(fleet.dead().values).isSubset(of: [PoisonDetector.reason]), "seed \(seed)")
    if commit == .transactional {
      #expect(Set(fleet.answered()).isDisjoint(with: crashed), "seed \(seed)")
      #expect(fleet.eventIDs().count == ids.count - crashed.count, "seed \(seed): an event was published twice")
    }
    #expect(
      Set(fleet.eventIDs()).count == Set(fleet.answered()).count, "seed \(seed): a notification has two event IDs")
    let ledger = try fleet.ledger()
    for id in ids where !crashed.contains(id) {
      guard case .done? = ledger[LedgerKey(id: id)]?.state else {
        Issue.record("seed \(seed): the ledger says \(String(describing: ledger[LedgerKey(id: id)])) of \(id)")
        continue
      }
    }
    let effects = ids.enumerated().filter { $0.offset.isMultiple(of: 3) && !crashed.contains($0.element) }
    #expect(
      Set(book.calls.keys).isSuperset(of: effects.map { "extend/\($0.element)" }), "seed \(seed): an effect is missing")
    #expect(book.calls.values.allSatisfy { $0.count == 1 }, "seed \(seed): an effect was caused with two bodies")
    // Few records may be poisoned, or the checks above would cover too few.
    #expect(crashed.count <= ids.count / 4, "seed \(seed): \(crashed.sorted())")
  }

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
