// Tests that a process that lost a lane without a crash poisons no record.

import AppStore
import MillraceTime
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceCore
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct LivenessNoticesTests {
  private static let losses = 4
  private static let modes = [KafkaSettings.Commit.transactional, .atLeastOnce]

  /// Runs a record until the test opens it, and knows which process runs it.
  private final class Slow: Sendable {
    let isOpen = FleetProcess.Shared(false)
    let holder = FleetProcess.Shared("")

    func handler(of process: String, _ clock: MillraceClock) -> FleetHandler {
      FleetHandler(Book()) { item, recorder in
        guard item.id == "slow" else { return try await FleetHandler.answer(item, recorder) }
        self.holder.set(process)
        while !self.isOpen.get() { try await clock.sleep(until: clock.now.advanced(by: .milliseconds(50))) }
        return try await FleetHandler.answer(item, recorder)
      }
    }
  }

  /// Creates a rig with an unlimited handler timeout.
  private func fleet(_ commit: KafkaSettings.Commit) throws -> WorkerFleet {
    try WorkerFleet(lanes: 1, commit: commit) { $0.handlerTimeout = .seconds(100_000) }
  }

  private func notices(_ fleet: WorkerFleet) -> Int { fleet.log.records(in: fleet.topics.control).count }

  @Test(arguments: modes)
  func `a running record is not poisoned if processes pause, lose the lane and resume`(
    commit: KafkaSettings.Commit
  ) async throws {
    let fleet = try fleet(commit)
    let slow = Slow()
    let names = ["p", "q"]
    let processes = names.map { ($0, fleet.start($0, slow.handler(of: $0, fleet.time.clock))) }
    try fleet.put("slow", key: "k")
    #expect(await fleet.until { slow.holder.get() != "" } != nil)
    var round = 0
    // A process that releases the lane gracefully publishes no notice.
    while notices(fleet) < Self.losses, round < 4 * Self.losses {
      // The commit names the running record. In one-at-a-time mode the lane has already named it.
      try fleet.put("n\(round)", key: "n\(round)")
      await fleet.until(within: .seconds(5), step: .milliseconds(100)) { fleet.answered().contains("n\(round)") }
      let name = slow.holder.get()
      let process = try #require(processes.first { $0.0 == name }).1
      process.log.pause()
      #expect(await fleet.until { slow.holder.get() != name } != nil, "round \(round): no process took the lane over")
      process.log.resume()
      let before = notices(fleet)
      await fleet.until(within: .seconds(20), step: .milliseconds(100)) { notices(fleet) > before }
      round += 1
    }
    #expect(notices(fleet) >= Self.losses)
    slow.isOpen.set(true)
    #expect(await fleet.until { fleet.answered().contains("slow") && fleet.isRead() } != nil)
    #expect(fleet.dead().isEmpty)
    for (_, process) in processes { await process.crash() }
  }

  @Test(arguments: modes)
  func `a running record is not poisoned if processes lose their lanes and exit`(
    commit: KafkaSettings.Commit
  ) async throws {
    let fleet = try fleet(commit)
    let slow = Slow()
    try fleet.put("slow", key: "k")
    for life in 1...Self.losses {
      let name = "p\(life)"
      let process = fleet.start(name, isKept: false, slow.handler(of: name, fleet.time.clock))
      try fleet.put("n\(life)", key: "n\(life)")
      // After two losses the lane runs one record at a time, which is the slow one.
      let isCareful = life > PoisonDetector.startsUntilOneAtATime
      #expect(
        await fleet.until { slow.holder.get() == name && (isCareful || fleet.answered().contains("n\(life)")) } != nil)
      // The first attempt to publish the notice fails.
      process.log.fail(
        .send, with: [KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)],
        in: fleet.topics.control)
      // The error must end the process. A process with a fenced producer would rejoin.
      process.log.fail(
        isCareful || commit == .transactional ? .read : .commitOffsets,
        with: [KafkaError(code: .fenced, operation: "commit", reason: "a newer instance", isFatal: true)])
      try fleet.put("m\(life)", key: "m\(life)")
      #expect(try #require(await fleet.end(of: process, within: .seconds(60)), "it lives on").error is KafkaError)
      #expect(notices(fleet) == life)
    }
    slow.isOpen.set(true)
    let last = fleet.start("last", slow.handler(of: "last", fleet.time.clock))
    #expect(await fleet.until { fleet.answered().contains("slow") && fleet.isRead() } != nil)
    #expect(fleet.dead().isEmpty)
    await last.crash()
  }

  /// The handler may still kill the process. If the process counted as a survivor, the record would run for ever.
  @Test func `losing a lane while a handler hangs counts as a crash`() async throws {
    let fleet = try fleet(.transactional)
    let hung = FleetProcess.Shared<[CheckedContinuation<Void, Never>]>([])
    let isLast = FleetProcess.Shared(false)
    let clock = fleet.time.clock
    let handler = FleetHandler(Book()) { item, recorder in
      if item.id == "hangs" {
        await withCheckedContinuation { waiter in hung.change { $0.append(waiter) } }
      } else {
        while !isLast.get() { try await clock.sleep(until: clock.now.advanced(by: .milliseconds(50))) }
      }
      return try await FleetHandler.answer(item, recorder)
    }
    try fleet.put("hangs", key: "k")
    // The first two marks do not name the record, because nothing is committed after it began: the others run until the last.
    for life in 1...PoisonDetector.startsUntilPoisoned + 1 {
      let process = fleet.start("p\(life)", isKept: false, handler)
      #expect(await fleet.until { hung.get().count == life } != nil)
      process.log.fail(
        .read, with: [KafkaError(code: .fenced, operation: "read", reason: "a newer instance", isFatal: true)],
        in: WorkerFleet.live)
      try fleet.put("n\(life)", key: "n\(life)")
      #expect(try #require(await fleet.end(of: process, within: .seconds(60)), "it lives on").error is KafkaError)
      #expect(fleet.dead().isEmpty)
    }
    isLast.set(true)
    let last = fleet.start("last", handler)
    #expect(await fleet.until { fleet.dead() == ["hangs": PoisonDetector.reason] && fleet.isRead() } != nil)
    #expect(notices(fleet) == 0)
    for continuation in hung.take() { continuation.resume() }
    await last.crash()
  }

  /// A batch is committed in smaller parts if single records can be committed in time.
  @Test func `a batch that exceeds its transaction timeout is split and poisons no record`()
    async throws
  {
    let fleet = try WorkerFleet(lanes: 1) { $0.parallelism = 50 }
    let clock = fleet.time.clock
    let handler = FleetHandler(Book()) { item, recorder in
      // All running handlers end together.
      try await clock.sleep(until: clock.now.advanced(by: .seconds(2)))
      return try await FleetHandler.answer(item, recorder)
    }
    let ids = (0..<50).map { "n\($0)" }
    for id in ids { try fleet.put(id, key: id) }
    // Requests are sequential, so one record takes about four seconds, and ten exceed the transaction timeout of ten.
    fleet.log.setLatency(.seconds(1))
    let process = fleet.start("p", handler)
    let isDone = await fleet.until(within: .seconds(1_200), step: .milliseconds(100)) {
      // A busy machine must not make a single record time out. The limit is for transactions that were given up.
      for _ in 0..<300 where fleet.log.isBetweenRequests { await Task.yield() }
      return fleet.answered().count == ids.count && fleet.isRead()
    }
    #expect(isDone != nil)
    #expect(fleet.answered().sorted() == ids.sorted())
    #expect(fleet.dead().isEmpty)
    #expect(notices(fleet) == PoisonDetector.startsUntilOneAtATime, "no loss in one-at-a-time mode")
    await process.crash()
  }
}
