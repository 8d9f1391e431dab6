// What a worker promises whatever happens to its processes, shown with the real runtime over the log in memory.

import AppStore
import AppStoreSigning
import Clocks
import Kafka
import MillraceTesting
import Synchronization
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct RuntimePromisesTests {
  private static let notifications = 120
  private static let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)

  @Test(arguments: UInt64(0)..<12)
  func `events are there once for a reader of committed records, whatever happens to processes`(
    seed: UInt64
  ) async throws {
    try await survive(seed, .transactional)
  }

  @Test(arguments: UInt64(100)..<106)
  func `without transactions no event is missing and each has one id`(seed: UInt64) async throws {
    try await survive(seed, .atLeastOnce)
  }

  private func survive(_ seed: UInt64, _ commit: KafkaSettings.Commit) async throws {
    var random = SeededGenerator(seed: seed)
    // Records in hand when processes die again and again are suspects; few of them, so that suspicion passes soon.
    let mill = try Mill(lanes: 4, commit: commit) { policy in
      policy.recordsInFlight = 8
      policy.drainTimeout = .seconds(4)
    }
    let book = Book()
    let handler = MillHandler(book) { item, journal in
      let number = Int(item.id.dropFirst()) ?? 0
      if number.isMultiple(of: 3) { try await MillHandler.cause("extend/\(item.id)", journal, in: book) }
      if number.isMultiple(of: 7), item.provenance.attempt < 2 { throw RetryableFailure("not yet") }
      return try await MillHandler.answer(item, journal)
    }
    let ids = (0..<Self.notifications).map { "n\($0)" }
    for (number, id) in ids.enumerated() { try mill.put(id, key: "k\(number % 17)") }
    var processes = (0..<3).map { mill.start("p\($0)", handler) }
    for _ in 0..<60 {
      let index = Int.random(in: processes.indices, using: &random)
      switch Int.random(in: 0..<12, using: &random) {
      // Nothing fences a zombie without transactions: it may cause an effect that the lane's next owner causes too.
      case 0: if commit == .transactional { processes[index].log.pause() }
      case 1, 2: processes[index].log.resume()
      case 3:
        await processes[index].crash()
        processes[index] = mill.start("p\(index)", handler)
      case 4: processes[index].log.fail(.send, with: [Self.away], reach: .unacknowledged)
      case 5: processes[index].log.fail(.commitTransaction, with: [Self.away], reach: .unacknowledged)
      case 6: processes[index].log.fail(.sendOffsets, with: [Self.away])
      case 7: processes[index].log.fail(.commitOffsets, with: [Self.away])
      case 8:
        let number = Int.random(in: ids.indices, using: &random)
        try mill.put(ids[number], key: "k\(number % 17)")
      default: mill.time.advance(by: .milliseconds(Int64.random(in: 1...3_000, using: &random)))
      }
      for _ in 0..<Int.random(in: 0..<200, using: &random) { await Task.yield() }
    }
    for process in processes { process.log.resume() }
    let isDone = await mill.until {
      Set(mill.answered()).union(mill.dead().keys).isSuperset(of: ids) && mill.isRead()
    }
    #expect(isDone != nil, "seed \(seed): \(Set(ids).subtracting(mill.answered()).sorted()) have no event")
    for process in processes { await process.crash() }

    let crashed = Set(mill.dead().keys)
    #expect(Set(mill.dead().values).isSubset(of: [PoisonWatch.reason]), "seed \(seed)")
    if commit == .transactional {
      #expect(Set(mill.answered()).isDisjoint(with: crashed), "seed \(seed)")
      #expect(mill.eventIDs().count == ids.count - crashed.count, "seed \(seed): an event is there twice")
    }
    #expect(Set(mill.eventIDs()).count == Set(mill.answered()).count, "seed \(seed): a notification with two ids")
    let ledger = try mill.ledger()
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
    // Suspicion is to be the exception, or nothing of the above was shown of most.
    #expect(crashed.count <= ids.count / 4, "seed \(seed): \(crashed.sorted())")
  }

  @Test func `a commit that fails is produced again, and no handler runs twice`() async throws {
    let mill = try Mill(lanes: 2)
    let book = Book()
    for number in 0..<60 { try mill.put("n\(number)", key: "k\(number % 9)") }
    let process = mill.start("p", MillHandler(book))
    for round in 0..<20 {
      let operation: [LogOperation] = [.send, .sendOffsets, .commitTransaction, .abortTransaction]
      process.log.fail(
        operation[round % 4], with: [Self.away], reach: round.isMultiple(of: 3) ? .unacknowledged : .refused)
      for number in 0..<5 { try mill.put("n\(60 + round * 5 + number)", key: "k\(number)") }
      await mill.until { book.runs.count == 65 + round * 5 }
    }
    #expect(await mill.until { mill.answered().count == 160 && mill.isRead() } != nil)
    #expect(book.runs.values.allSatisfy { $0 == 1 })
    #expect(Set(mill.eventIDs()).count == 160)
    await process.crash()
  }

  @Test func `three workers restarted one after the other repeat no work and lose none`() async throws {
    let mill = try Mill(lanes: 6)
    let book = Book()
    let clock = mill.time.clock
    let handler = MillHandler(book) { item, journal in
      try await clock.sleep(until: clock.now.advanced(by: .milliseconds(100)))
      return try await MillHandler.answer(item, journal)
    }
    var processes = (0..<3).map { mill.start("p\($0)", handler) }
    var count = 0
    func feed() throws {
      for _ in 0..<20 {
        try mill.put("n\(count)", key: "k\(count % 31)")
        count += 1
      }
    }
    for round in 0..<6 {
      try feed()
      await mill.until { mill.answered().count > count - 20 }
      try feed()
      let leaving = processes[round % 3]
      await leaving.leave()
      #expect(try #require(await mill.end(of: leaving), "it did not leave").error == nil)
      processes[round % 3] = mill.start("p\(round % 3)r\(round)", handler)
    }
    #expect(await mill.until { Set(mill.answered()).count == count && mill.isRead() } != nil)
    #expect(mill.answered().count == count)
    #expect(book.runs.values.allSatisfy { $0 == 1 }, "work was repeated")
    for key in 0..<31 {
      let own = book.order.compactMap { Int($0.dropFirst()) }.filter { $0 % 31 == key }
      #expect(own == own.sorted(), "key \(key) out of order")
    }
    for process in processes { await process.crash() }
  }

  @Test(arguments: [200, 400, 700, 1_000, 1_500, 2_000, 3_000])
  func `a commit on its way when its lane is handed over is not taken under the next generation`(
    latency: Int64
  ) async throws {
    let mill = try Mill(lanes: 2) { $0.drainTimeout = .milliseconds(500) }
    let book = Book()
    let first = mill.start("p", MillHandler(book))
    for number in 0..<8 { try mill.put("before\(number)", key: "k\(number)") }
    #expect(await mill.until { mill.answered().count == 8 && mill.isRead() } != nil)
    let ids = (0..<24).map { "n\($0)" }
    for (number, id) in ids.enumerated() { try mill.put(id, key: "k\(number)") }
    await mill.until(step: .milliseconds(5)) { book.runs.count > 8 }
    // The commit takes longer than the lane has time to leave.
    mill.log.setLatency(.milliseconds(latency))
    let second = mill.start("q", MillHandler(book))
    // Requests that take seconds have transactions time out and runtimes end, with nothing written beside the offsets.
    // Their process lives and says so, so no record is blamed.
    #expect(await mill.until { mill.answered().count >= 32 && mill.isRead() } != nil)
    mill.log.setLatency(.zero)
    #expect(await mill.until { Set(mill.answered()).isSuperset(of: ids) && mill.isRead() } != nil)
    mill.time.advance(by: .seconds(30))
    await mill.until(within: .seconds(5)) { false }
    #expect(mill.answered().count == 32, "an event is there twice")
    #expect(mill.dead().isEmpty, "a record was blamed for what is none's fault")
    await first.crash()
    await second.crash()
  }

  @Test func `what follows from a notification carries its trace`() async throws {
    let mill = try Mill(lanes: 1)
    let traces = (0..<3).map { "00-4bf92f3577b34da6a3ce929d0e0e473\($0)-00f067aa0ba902b7-01" }
    for (id, trace) in zip(["ok", "late", "dead"], traces) {
      var record = mill.record(id, key: id)
      record.headers.append(RecordHeader("traceparent", trace))
      try mill.log.append(record)
    }
    try mill.put("none", key: "none")
    let process = mill.start(
      "p",
      MillHandler(Book()) { item, journal in
        if item.id == "dead" { throw PermanentFailure("no-use", "cannot be handled") }
        if item.id == "late", item.provenance.attempt == 0 { throw RetryableFailure("not yet") }
        return try await MillHandler.answer(item, journal)
      })
    #expect(await mill.until { mill.answered().count == 3 && mill.dead().count == 1 } != nil)
    func trace(_ topic: String) -> [String: String] {
      let pairs = mill.log.records(in: topic).map { record in
        let cause = Mill.header("ce_notificationid", of: record)
        return (cause.isEmpty ? Mill.header("ce_id", of: record) : cause, Mill.header("traceparent", of: record))
      }
      return Dictionary(pairs) { $1 }
    }
    #expect(trace(mill.topics.events) == ["ok": traces[0], "late": traces[1], "none": ""])
    #expect(trace(mill.topics.retries[0]) == ["late": traces[1]])
    #expect(trace(mill.topics.deadLetters) == ["dead": traces[2]])
    await process.crash()
  }

  @Test func `an effect whose intent is still on its way is not caused by the next run either`() async throws {
    let mill = try Mill(lanes: 1)
    let book = Book()
    let process = mill.start(
      "p",
      MillHandler(book) { item, journal in
        let cause = Task { try await MillHandler.cause("extend/one", journal, in: book) }
        // The first run is given up while its intent waits for Kafka.
        if item.id == "first" {
          while book.runs["first"] == nil { await Task.yield() }
          try await mill.time.clock.sleep(until: mill.time.clock.now.advanced(by: .milliseconds(10)))
          return .ignore
        }
        try await cause.value
        return .ignore
      })
    #expect(await mill.until { mill.isRead() } != nil)
    mill.log.setLatency(.seconds(1))
    try mill.put("first", key: "k")
    #expect(await mill.until { book.runs["first"] == 1 } != nil)
    try mill.put("second", key: "k")
    var wasWritten = true
    #expect(
      await mill.until(step: .milliseconds(5)) {
        let isWritten = (try? mill.ledger().effect("extend/one")) != nil
        if book.calls["extend/one"] != nil { wasWritten = wasWritten && isWritten }
        return book.calls["extend/one"] != nil
      } != nil)
    #expect(wasWritten, "it was caused before its intent was in Kafka")
    await process.crash()
  }

  @Test func `a group that takes no offsets while it is rebalanced holds no outcome up`() async throws {
    let mill = try Mill(lanes: 1, commit: .atLeastOnce)
    let book = Book()
    let process = mill.start("p", MillHandler(book))
    try mill.put("first", key: "k")
    #expect(await mill.until { mill.answered() == ["first"] && mill.isRead() } != nil)
    // Retriable, but not by this call: the group waits for the member to hand its lanes over and to join again.
    let refusal = KafkaError(code: .rebalanceInProgress, operation: "commit", reason: "test", isRetriable: true)
    process.log.fail(.commitOffsets, with: Array(repeating: refusal, count: 5))
    for number in 0..<5 {
      try mill.put("n\(number)", key: "k")
      let wait = await mill.until { mill.answered().last == "n\(number)" }
      #expect(try #require(wait) < .milliseconds(500), "n\(number)")
    }
    // The next commit carries the offsets that were refused.
    try mill.put("last", key: "k")
    #expect(await mill.until { mill.answered().last == "last" && mill.isRead() } != nil)
    #expect(book.runs.values.allSatisfy { $0 == 1 })
    await process.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a commit that comes when the group was left ends the worker in order`(
    commit: KafkaSettings.Commit
  ) async throws {
    let mill = try Mill(lanes: 1, commit: commit)
    let process = mill.start("p", isKept: false, MillHandler(Book()))
    try mill.put("n0", key: "k")
    #expect(await mill.until { mill.answered() == ["n0"] && mill.isRead() } != nil)
    process.log.fail(
      commit == .transactional ? .sendOffsets : .commitOffsets,
      with: [KafkaError(code: .closed, operation: "commit", reason: "the group was left")])
    try mill.put("n1", key: "k")
    await mill.until(within: .seconds(2)) { false }
    await process.leave()
    #expect(try #require(await mill.end(of: process, within: .seconds(60))).error == nil)
    let next = mill.start("q", MillHandler(Book()))
    #expect(await mill.until { mill.answered() == ["n0", "n1"] && mill.isRead() } != nil)
    await next.crash()
  }

  @Test func `a process that is fenced ends and says so`() async throws {
    let mill = try Mill(lanes: 1)
    let process = mill.start("p", isKept: false, MillHandler(Book()))
    try mill.put("n0", key: "k")
    await mill.until { mill.answered().count == 1 }
    process.log.fail(
      .commitTransaction,
      with: [KafkaError(code: .fenced, operation: "commit", reason: "a newer instance", isFatal: true)])
    try mill.put("n1", key: "k")
    let end = try #require(await mill.end(of: process, within: .seconds(60)), "it lives on and commits nothing")
    #expect((end.error as? KafkaError)?.code == .fenced)
    await process.crash()
  }
}
