// Nobody waits for long for somebody else's records: many keys, one key, an app that waits for Apple.

import AppStore
import Clocks
import Foundation
import Kafka
import MillraceTesting
import Synchronization
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(60))) struct FairnessTests {
  private static let usualBacklog = 4_000
  /// A million takes minutes, and gigabytes of the log in memory: `MILLRACE_APP_BACKLOG=1000000`.
  private static let backlog =
    ProcessInfo.processInfo.environment["MILLRACE_APP_BACKLOG"].flatMap(Int.init) ?? usualBacklog
  /// The tiers that a worker has; and shorter ones, from which the backlog comes back in waves all the time, where it is
  /// not so large that it would not be read through for waves.
  private static let delays: [[Duration]] =
    [WorkerPolicy().retryDelays] + (backlog > usualBacklog ? [] : [[.seconds(2), .seconds(20)]])

  /// What is counted is how many of the other app's run before one does that came behind all of them, whatever a machine
  /// needs for one. The time until it runs is printed and not judged, for it passes while the machine works; seconds are
  /// what `scripts/bench consume --only waiting` measures.
  @Test(arguments: delays)
  func `few handlers of another app run before an own record, however many of its records wait for Apple`(
    delays: [Duration]
  ) async throws {
    let mill = try Mill(lanes: 1) { $0.retryDelays = delays }
    let (clock, wave) = (mill.time.clock, delays.last ?? .zero)
    let runs = Mutex((others: 0, known: Set<String>(), before: [String: Int]()))
    let process = mill.start(
      "p",
      MillHandler(Book()) { item, journal in
        guard item.group == "com.example.a" else {
          runs.withLock { $0.before[item.id] = $0.others }
          return try await MillHandler.answer(item, journal)
        }
        runs.withLock {
          $0.others += 1
          $0.known.insert(item.id)
        }
        throw Turn(until: clock.wallTime + wave)
      })
    for number in 0..<Self.backlog { try mill.put("a\(number)", key: "a\(number)") }
    var mostHeld = 0
    func look() async { mostHeld = max(mostHeld, await process.held() ?? 0) }
    // None of them is unread any more: all wait, or are on their way to wait again.
    let isRead = await mill.until(within: .seconds(100_000)) {
      await look()
      return runs.withLock { $0.known.count } == Self.backlog
    }
    #expect(isRead != nil)
    var (mostBefore, longest) = (0, Duration.zero)
    for number in 0..<20 {
      // The whole backlog falls due again and again while others arrive.
      await mill.pass(wave / 8)
      let (id, before) = ("b\(number)", runs.withLock { $0.others })
      try mill.put(id, key: id, app: "com.example.b")
      let time = await mill.until {
        await look()
        return mill.answered().contains(id)
      }
      longest = max(longest, try #require(time, "\(id) was not served"))
      let others = try #require(runs.withLock { $0.before[id] }) - before
      #expect(others <= mill.policy.recordsInFlight, "\(id) waited for \(others) of \(Self.backlog)")
      mostBefore = max(mostBefore, others)
    }
    // They did come back, or nobody would have been in the way.
    #expect(runs.withLock { $0.others } > Self.backlog)
    // Of those that are ready or with a handler, and of those of each tier that wait for their time; a batch of records
    // on its way into each of them comes on top.
    let bound = (mill.policy.recordsInFlight + 64) * (1 + delays.count)
    #expect(mostHeld <= bound)
    if Self.backlog > Self.usualBacklog {
      print(
        """
        app backlog: behind \(Self.backlog) records that wait, tiers \(delays.map(DurationText.text)): served within \
        \(longest) after at most \(mostBefore) of them; at most \(mostHeld) records in memory, the limit is \(bound)
        """)
    }
    await process.crash()
  }

  private struct Turn: ClassifiedFailure {
    var until: Timestamp
    var disposition: FailureDisposition { .wait(until: until) }
  }

  @Test func `a timer fires and a short wait ends in time while another tier always has something due`() async throws {
    let mill = try Mill(lanes: 1) { policy in
      policy.retryDelays = [.seconds(2), .seconds(20)]
      policy.recordsInFlight = 16
      policy.parallelism = 2
      policy.maximumAttempts = 1_000_000
    }
    let clock = mill.time.clock
    let seen = Mutex((timer: Timestamp?.none, tries: [Timestamp]()))
    var handler = MillHandler(Book()) { item, _ in
      if item.group == "com.example.b" {
        let tries = seen.withLock { seen in
          seen.tries.append(clock.wallTime)
          return seen.tries.count
        }
        return tries == 1 ? .retry(after: .seconds(2), because: "away") : .ignore
      }
      if item.id == "first" { return .ignore.settingTimer("t", at: clock.wallTime + .seconds(120)) }
      // Twice as many come back every twenty seconds as can be tried in that time.
      try await clock.sleep(until: clock.now.advanced(by: .milliseconds(200)))
      return .retry(after: .seconds(20), because: "away")
    }
    handler.fired = { _, _ in
      seen.withLock { $0.timer = clock.wallTime }
      return .ignore
    }
    let began = clock.wallTime
    let process = mill.start("p", handler)
    try mill.put("first", key: "first")
    for number in 0..<400 { try mill.put("a\(number)", key: "a\(number)") }
    #expect(await mill.until { clock.wallTime - began > .seconds(100) } != nil)
    try mill.put("b", key: "b", app: "com.example.b")
    #expect(await mill.until { clock.wallTime - began > .seconds(140) } != nil)
    let (timer, tries) = seen.withLock { ($0.timer, $0.tries) }
    #expect(try #require(timer) - began < .seconds(123))
    #expect(tries.count == 2)
    #expect(try #require(tries.last) - (try #require(tries.first)) < .seconds(8))
    await process.crash()
  }

  @Test func `a hundred thousand keys pass through a lane that holds a few hundred records`() async throws {
    let mill = try Mill(lanes: 1) { $0.commitCount = 2_000 }
    let book = Book()
    let process = mill.start("p", MillHandler(book) { _, _ in .ignore })
    let count = 100_000
    for number in 0..<count { try mill.put("n\(number)", key: "k\(number)") }
    #expect(await mill.until(step: .milliseconds(1)) { book.runs.count == count && mill.isRead() } != nil)
    #expect(book.mostRunning <= mill.policy.parallelism)
    #expect(book.runs.values.allSatisfy { $0 == 1 })
    await process.crash()
  }

  @Test func `the records of one hot key run one at a time in their order, and others pass them`() async throws {
    let mill = try Mill(lanes: 1)
    let book = Book()
    let clock = mill.time.clock
    let process = mill.start(
      "p",
      MillHandler(book) { item, journal in
        if item.id.hasPrefix("hot") { try await clock.sleep(until: clock.now.advanced(by: .milliseconds(10))) }
        return try await MillHandler.answer(item, journal)
      })
    for number in 0..<150 { try mill.put("hot\(number)", key: "hot") }
    try mill.put("other", key: "cold")
    #expect(await mill.until { mill.answered().contains("other") } != nil)
    #expect(mill.answered().count < 150)
    #expect(await mill.until { mill.answered().count == 151 } != nil)
    let hot = mill.answered().filter { $0 != "other" }
    #expect(hot == (0..<150).map { "hot\($0)" })
    await process.crash()
  }
}
