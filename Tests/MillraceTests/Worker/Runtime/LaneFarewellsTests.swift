// A process that lost a lane and lives is no process that was killed: no record is to blame for it.

import AppStore
import Clocks
import Kafka
import MillraceTesting
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct LaneFarewellsTests {
  private static let losses = 4
  private static let modes = [KafkaSettings.Commit.transactional, .atLeastOnce]

  /// Runs a record until a gate opens, and tells in whose hand it is.
  private final class Slow: Sendable {
    let isOpen = MillProcess.Shared(false)
    let holder = MillProcess.Shared("")

    func handler(of process: String, _ clock: MillraceClock) -> MillHandler {
      MillHandler(Book()) { item, journal in
        guard item.id == "slow" else { return try await MillHandler.answer(item, journal) }
        self.holder.set(process)
        while !self.isOpen.get() { try await clock.sleep(until: clock.now.advanced(by: .milliseconds(50))) }
        return try await MillHandler.answer(item, journal)
      }
    }
  }

  /// Handlers may take as long as they like.
  private func mill(_ commit: KafkaSettings.Commit) throws -> Mill {
    try Mill(lanes: 1, commit: commit) { $0.handlerTimeout = .seconds(100_000) }
  }

  private func farewells(_ mill: Mill) -> Int { mill.log.records(in: mill.topics.control).count }

  @Test(arguments: modes)
  func `a record in hand while processes stand still, lose the lane and go on is not blamed`(
    commit: KafkaSettings.Commit
  ) async throws {
    let mill = try mill(commit)
    let slow = Slow()
    let names = ["p", "q"]
    let processes = names.map { ($0, mill.start($0, slow.handler(of: $0, mill.time.clock))) }
    try mill.put("slow", key: "k")
    #expect(await mill.until { slow.holder.get() != "" } != nil)
    var round = 0
    // One that hands the lane over in order just then has nothing to say.
    while farewells(mill) < Self.losses, round < 4 * Self.losses {
      // Its commit names what is in hand; a lane that runs one record at a time has done so before.
      try mill.put("n\(round)", key: "n\(round)")
      await mill.until(within: .seconds(5), step: .milliseconds(100)) { mill.answered().contains("n\(round)") }
      let name = slow.holder.get()
      let process = try #require(processes.first { $0.0 == name }).1
      process.log.pause()
      #expect(await mill.until { slow.holder.get() != name } != nil, "round \(round): nobody took the lane over")
      process.log.resume()
      let before = farewells(mill)
      await mill.until(within: .seconds(20), step: .milliseconds(100)) { farewells(mill) > before }
      round += 1
    }
    #expect(farewells(mill) >= Self.losses)
    slow.isOpen.set(true)
    #expect(await mill.until { mill.answered().contains("slow") && mill.isRead() } != nil)
    #expect(mill.dead().isEmpty)
    for (_, process) in processes { await process.crash() }
  }

  @Test(arguments: modes)
  func `a record in hand when processes are fenced and end is not blamed`(commit: KafkaSettings.Commit) async throws {
    let mill = try mill(commit)
    let slow = Slow()
    try mill.put("slow", key: "k")
    for life in 1...Self.losses {
      let name = "p\(life)"
      let process = mill.start(name, isKept: false, slow.handler(of: name, mill.time.clock))
      try mill.put("n\(life)", key: "n\(life)")
      // After two of them the lane runs one record at a time, and that is in hand.
      let isCareful = life > PoisonWatch.startsUntilOneAtATime
      #expect(
        await mill.until { slow.holder.get() == name && (isCareful || mill.answered().contains("n\(life)")) } != nil)
      // It is told at the second try.
      process.log.fail(
        .send, with: [KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)],
        in: mill.topics.control)
      let commits = commit == .transactional ? LogOperation.commitTransaction : .commitOffsets
      process.log.fail(
        isCareful ? .read : commits,
        with: [KafkaError(code: .fenced, operation: "commit", reason: "a newer instance", isFatal: true)])
      try mill.put("m\(life)", key: "m\(life)")
      #expect(try #require(await mill.end(of: process, within: .seconds(60)), "it lives on").error is KafkaError)
      #expect(farewells(mill) == life)
    }
    slow.isOpen.set(true)
    let last = mill.start("last", slow.handler(of: "last", mill.time.clock))
    #expect(await mill.until { mill.answered().contains("slow") && mill.isRead() } != nil)
    #expect(mill.dead().isEmpty)
    await last.crash()
  }

  /// It may kill the process yet, and would run for ever if its process were believed to have survived it.
  @Test func `a lane that is left with a handler that never comes back counts as left by a crash`() async throws {
    let mill = try mill(.transactional)
    let hung = MillProcess.Shared<[CheckedContinuation<Void, Never>]>([])
    try mill.put("hangs", key: "k")
    for life in 1...PoisonWatch.startsUntilCondemned {
      let process = mill.start("p\(life)", isKept: false, hanging(hung))
      #expect(await mill.until { hung.get().count == life } != nil)
      process.log.fail(
        .read, with: [KafkaError(code: .fenced, operation: "read", reason: "a newer instance", isFatal: true)],
        in: Mill.live)
      try mill.put("n\(life)", key: "n\(life)")
      #expect(try #require(await mill.end(of: process, within: .seconds(60)), "it lives on").error is KafkaError)
      #expect(mill.dead().isEmpty)
    }
    let last = mill.start("last", hanging(hung))
    #expect(await mill.until { mill.dead() == ["hangs": PoisonWatch.reason] && mill.isRead() } != nil)
    #expect(farewells(mill) == 0)
    for continuation in hung.take() { continuation.resume() }
    await last.crash()
  }

  /// As long as one record can be committed in time, what came together is.
  @Test func `a batch that outlasts its transaction is not tried for ever, nor is a record blamed for it`()
    async throws
  {
    let mill = try Mill(lanes: 1) { $0.parallelism = 50 }
    let clock = mill.time.clock
    let handler = MillHandler(Book()) { item, journal in
      // All that are in hand end together, whoever has them.
      try await clock.sleep(until: clock.now.advanced(by: .seconds(2)))
      return try await MillHandler.answer(item, journal)
    }
    let ids = (0..<50).map { "n\($0)" }
    for id in ids { try mill.put(id, key: id) }
    // One request after the other: fifty events take longer than the ten seconds that a transaction may.
    mill.log.setLatency(.milliseconds(400))
    let process = mill.start("p", handler)
    let isDone = await mill.until(within: .seconds(1_200), step: .milliseconds(100)) {
      mill.answered().count == ids.count && mill.isRead()
    }
    #expect(isDone != nil)
    #expect(mill.answered().sorted() == ids.sorted())
    #expect(mill.dead().isEmpty)
    #expect(farewells(mill) == PoisonWatch.startsUntilOneAtATime, "it ends until it is careful, and not after that")
    await process.crash()
  }

  private func hanging(_ hung: MillProcess.Shared<[CheckedContinuation<Void, Never>]>) -> MillHandler {
    MillHandler(Book()) { item, journal in
      if item.id == "hangs" { await withCheckedContinuation { waiter in hung.change { $0.append(waiter) } } }
      return try await MillHandler.answer(item, journal)
    }
  }
}
