// Tests that records do not wait long for others: for many keys, for one key, and for an app that waits for Apple.

import AppStore
import MillraceTime
import Foundation
import KafkaClient
import MillraceTesting
import Synchronization
import Testing

@testable import MillraceCore
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(60))) struct FairnessTests {
  private static let usualBacklog = 4_000
  /// The number of waiting records. `MILLRACE_APP_BACKLOG=1000000` takes minutes, and gigabytes for the in-memory log.
  private static let backlog =
    ProcessInfo.processInfo.environment["MILLRACE_APP_BACKLOG"].flatMap(Int.init) ?? usualBacklog
  /// The default retry delays, and short ones with which the backlog returns in constant waves. The short ones are left
  /// out for a large backlog, which could not be read between the waves.
  private static let delays: [[Duration]] =
    [WorkerPolicy().retryDelays] + (backlog > usualBacklog ? [] : [[.seconds(2), .seconds(20)]])

  /// Counts how many records of the other app run before a record that arrived after all of them. The time is printed
  /// but not checked; `scripts/bench consume --only waiting` measures it.
  @Test(arguments: delays)
  func `a backlog of one app that waits for Apple does not delay a record of another app`(
    delays: [Duration]
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1) { $0.retryDelays = delays }
    let (clock, wave) = (fleet.time.clock, delays.last ?? .zero)
    let runs = Mutex((others: 0, known: Set<String>(), before: [String: Int]()))
    let process = fleet.start(
      "p",
      FleetHandler(Book()) { item, recorder in
        guard item.group == "com.example.a" else {
          runs.withLock { $0.before[item.id] = $0.others }
          return try await FleetHandler.answer(item, recorder)
        }
        runs.withLock {
          $0.others += 1
          $0.known.insert(item.id)
        }
        throw Turn(until: clock.wallTime + wave)
      })
    for number in 0..<Self.backlog { try fleet.put("a\(number)", key: "a\(number)") }
    var mostHeld = 0
    func look() async { mostHeld = max(mostHeld, await process.held() ?? 0) }
    // All of them have been read and are delayed or about to be.
    let isRead = await fleet.until(within: .seconds(100_000)) {
      await look()
      return runs.withLock { $0.known.count } == Self.backlog
    }
    #expect(isRead != nil)
    var (mostBefore, longest) = (0, Duration.zero)
    for number in 0..<20 {
      // The whole backlog falls due repeatedly while other records arrive.
      await fleet.pass(wave / 8)
      let (id, before) = ("b\(number)", runs.withLock { $0.others })
      try fleet.put(id, key: id, app: "com.example.b")
      let time = await fleet.until {
        await look()
        return fleet.answered().contains(id)
      }
      longest = max(longest, try #require(time, "\(id) was not served"))
      let others = try #require(runs.withLock { $0.before[id] }) - before
      // At most `recordsInFlight` are ready when the lane reads the record, and some run before it is read. If records
      // that return could take every place, it would wait for the whole backlog.
      #expect(others <= 4 * fleet.policy.recordsInFlight, "\(id) waited for \(others) of \(Self.backlog)")
      mostBefore = max(mostBefore, others)
    }
    // Without records that returned, the test would show nothing.
    #expect(runs.withLock { $0.others } > Self.backlog)
    // The limit applies to ready and running records and to the waiting records of each retry topic. Twice as many
    // outcomes may wait for their commit, and the records that are ready then may be decided too.
    let bound = fleet.policy.recordsInFlight * (4 + delays.count)
    #expect(mostHeld <= bound)
    if Self.backlog > Self.usualBacklog {
      print(
        """
        app backlog: \(Self.backlog) waiting records, retry delays \(delays.map(DurationText.text)): handled within \
        \(longest) after at most \(mostBefore) of them; at most \(mostHeld) records in memory, the limit is \(bound)
        """)
    }
    await process.crash()
  }

  @Test func `timers and short retries are on time while another retry topic always has due records`() async throws {
    let fleet = try WorkerFleet(lanes: 1) { policy in
      policy.retryDelays = [.seconds(2), .seconds(20)]
      policy.recordsInFlight = 16
      policy.parallelism = 2
      policy.maximumAttempts = 1_000_000
    }
    let clock = fleet.time.clock
    let seen = Mutex((timer: Timestamp?.none, tries: [Timestamp]()))
    var handler = FleetHandler(Book()) { item, _ in
      if item.group == "com.example.b" {
        let tries = seen.withLock { seen in
          seen.tries.append(clock.wallTime)
          return seen.tries.count
        }
        return tries == 1 ? .retry(after: .seconds(2), because: "away") : .ignore
      }
      if item.id == "first" { return .ignore.settingTimer("t", at: clock.wallTime + .seconds(120)) }
      // Every 20 seconds twice as many records return as can run in that time.
      try await clock.sleep(until: clock.now.advanced(by: .milliseconds(200)))
      return .retry(after: .seconds(20), because: "away")
    }
    handler.fired = { _, _ in
      seen.withLock { $0.timer = clock.wallTime }
      return .ignore
    }
    let began = clock.wallTime
    let process = fleet.start("p", handler)
    try fleet.put("first", key: "first")
    for number in 0..<400 { try fleet.put("a\(number)", key: "a\(number)") }
    #expect(await fleet.until { clock.wallTime - began > .seconds(100) } != nil)
    try fleet.put("b", key: "b", app: "com.example.b")
    #expect(await fleet.until { clock.wallTime - began > .seconds(140) } != nil)
    let (timer, tries) = seen.withLock { ($0.timer, $0.tries) }
    #expect(try #require(timer) - began < .seconds(123))
    #expect(tries.count == 2)
    #expect(try #require(tries.last) - (try #require(tries.first)) < .seconds(8))
    await process.crash()
  }

  @Test func `a lane with a few hundred records in memory handles a hundred thousand keys`() async throws {
    let fleet = try WorkerFleet(lanes: 1) { $0.commitCount = 2_000 }
    let book = Book()
    let process = fleet.start("p", FleetHandler(book) { _, _ in .ignore })
    let count = 100_000
    for number in 0..<count { try fleet.put("n\(number)", key: "k\(number)") }
    #expect(await fleet.until(step: .milliseconds(1)) { book.runs.count == count && fleet.isRead() } != nil)
    #expect(book.mostRunning <= fleet.policy.parallelism)
    #expect(book.runs.values.allSatisfy { $0 == 1 })
    await process.crash()
  }

  @Test func `records of one hot key run one at a time, in order, and do not block others`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let book = Book()
    let clock = fleet.time.clock
    let process = fleet.start(
      "p",
      FleetHandler(book) { item, recorder in
        if item.id.hasPrefix("hot") { try await clock.sleep(until: clock.now.advanced(by: .milliseconds(10))) }
        return try await FleetHandler.answer(item, recorder)
      })
    for number in 0..<150 { try fleet.put("hot\(number)", key: "hot") }
    try fleet.put("other", key: "cold")
    #expect(await fleet.until { fleet.answered().contains("other") } != nil)
    #expect(fleet.answered().count < 150)
    #expect(await fleet.until { fleet.answered().count == 151 } != nil)
    let hot = fleet.answered().filter { $0 != "other" }
    #expect(hot == (0..<150).map { "hot\($0)" })
    await process.crash()
  }
}
