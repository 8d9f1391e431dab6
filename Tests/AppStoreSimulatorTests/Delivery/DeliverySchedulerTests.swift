import AppStore
import AppStoreSigning
import MillraceTime
import Logging
import Synchronization
import TestEnvironment
import Testing

@testable import AppStoreSimulator

/// A receiver that answers as configured and records the posts.
private final class Receiver: Sendable {
  struct Post: Sendable, Hashable {
    var body: [UInt8]
    var date: Timestamp
  }

  private let posts = Mutex<[Post]>([])
  private let answers: Mutex<[PostOutcome]>
  private let arrivals = AsyncStream<Void>.makeStream()
  private let clock: MillraceClock

  /// Answers in the given order, then always 200.
  init(_ clock: MillraceClock, _ answers: [PostOutcome] = []) {
    self.clock = clock
    self.answers = Mutex(answers)
  }

  var received: [Post] { posts.withLock { $0 } }

  func post(_ body: [UInt8]) -> PostOutcome {
    posts.withLock { $0.append(Post(body: body, date: clock.wallTime)) }
    defer { arrivals.continuation.yield() }
    return answers.withLock { $0.isEmpty ? PostOutcome(status: 200) : $0.removeFirst() }
  }

  /// Returns when this many more posts have arrived.
  func wait(for count: Int) async {
    var iterator = arrivals.stream.makeAsyncIterator()
    for _ in 0..<count { await iterator.next() }
  }
}

@Suite struct DeliverySchedulerTests {
  private let time = ManualClock(start: .newYear)
  private let hour = Duration.seconds(3_600)

  private func scheduler(
    _ world: World, _ receiver: Receiver, version: NotificationVersion = .v2,
    onAttempt: (@Sendable (DeliveryAttempt) -> Void)? = nil, change: (inout DeliverySettings) -> Void = { _ in }
  ) throws -> DeliveryScheduler {
    var settings = DeliverySettings()
    settings.latency = .zero ... .zero
    change(&settings)
    let destination = Destination(url: "test", version: version)
    return DeliveryScheduler(
      world: world, signer: try Rehearsal.signer(),
      destinations: [Rehearsal.production: destination, Rehearsal.sandbox: destination], settings: settings,
      clock: time.clock, post: { _, body in receiver.post(body) }, onAttempt: onAttempt ?? { _ in },
      logger: Logger(label: "test"))
  }

  /// Runs the scheduler while `body` runs.
  private func running(_ scheduler: DeliveryScheduler, _ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { try await scheduler.run() }
      try await body()
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  @Test(.timeLimit(.minutes(15)))
  func `a failure is retried on Apple's schedule with the same bytes, and every attempt is recorded`() async throws {
    let world = Rehearsal.world()
    let failures: [PostOutcome] = [
      PostOutcome(status: 503), PostOutcome(.timedOut), PostOutcome(.socketIssue), PostOutcome(status: 404),
      PostOutcome(.prematureClose), PostOutcome(status: 500),
    ]
    let receiver = Receiver(time.clock, failures)
    let attempts = Mutex<[DeliveryAttempt]>([])
    let scheduler = try scheduler(world, receiver, onAttempt: { attempt in attempts.withLock { $0.append(attempt) } })
    try await running(scheduler) {
      try world.buy(Rehearsal.monthly, at: .newYear)
      await receiver.wait(for: 1)
      for hours in [1, 12, 24, 48, 72] {
        await time.waitForSleepers(1)
        time.advance(by: hour * hours - .milliseconds(1))
        await time.waitForSleepers(1)
        time.advance(by: .milliseconds(1))
        await receiver.wait(for: 1)
      }
      try await waitUntil(scheduler.tally.abandoned > 0)
    }
    let received = receiver.received
    #expect(received.map { ($0.date - .newYear).components.seconds / 3_600 } == [0, 1, 13, 37, 85, 157])
    #expect(Set(received.map(\.body)).count == 1)
    let told = attempts.withLock { $0 }
    #expect(told.map(\.number) == [1, 2, 3, 4, 5, 6])
    #expect(told.map(\.outcome) == failures)
    #expect(told.map(\.body) == received.map(\.body))
    #expect(told.allSatisfy { $0.type == "SUBSCRIBED/INITIAL_BUY" && !$0.isDuplicate })
    let record = try #require(world.withState { $0.realms[0].log[0] })
    #expect(record.attempts.map(\.result) == failures.map(\.result))
    #expect(record.isSettled)
    #expect(scheduler.tally.retries == 5 && scheduler.tally.waiting == 0)
  }

  @Test(.timeLimit(.minutes(15)))
  func `the sandbox is tried once, and optionally a 4xx ends the retries`() async throws {
    let world = Rehearsal.world()
    let receiver = Receiver(time.clock, [PostOutcome(status: 500), PostOutcome(status: 400)])
    let scheduler = try scheduler(world, receiver, change: { $0.retriesAfterClientError = false })
    try await running(scheduler) {
      try world.buy(Rehearsal.monthly, in: Rehearsal.sandbox, at: .newYear)
      await receiver.wait(for: 1)
      try world.buy(Rehearsal.monthly, at: .newYear)
      await receiver.wait(for: 1)
      try await waitUntil(scheduler.tally.abandoned >= 2)
    }
    #expect(scheduler.tally.waiting == 0)
    #expect(scheduler.tally.answers == [400: 1, 500: 1])
  }

  @Test(.timeLimit(.minutes(15)))
  func `a duplicate has the same bytes and is not recorded as an attempt`() async throws {
    let world = Rehearsal.world()
    let receiver = Receiver(time.clock)
    let scheduler = try scheduler(
      world, receiver,
      change: {
        $0.duplicates = 1
        $0.duplicatesWithin = .zero
      })
    try await running(scheduler) {
      try world.buy(Rehearsal.monthly, at: .newYear)
      await receiver.wait(for: 2)
      try await waitUntil(scheduler.tally.duplicates >= 1 && scheduler.tally.acknowledged >= 1)
    }
    #expect(Set(receiver.received.map(\.body)).count == 1)
    #expect(world.withState { $0.realms[0].log[0]?.attempts.count } == 1)
  }

  @Test(.timeLimit(.minutes(15)))
  func `a version 1 app gets its bodies, and TEST in version 2`() async throws {
    let world = Rehearsal.world()
    let receiver = Receiver(time.clock)
    let scheduler = try scheduler(world, receiver, version: .v1)
    try await running(scheduler) {
      world.withState { _ = $0.requestTest(in: Rehearsal.production, at: .newYear) }
      let original = try world.buy(Rehearsal.monthly, at: .newYear)
      try world.withState { try $0.refund(original, at: .newYear) }
      await receiver.wait(for: 4)
      try await waitUntil(scheduler.tally.acknowledged >= 4)
    }
    let types = try receiver.received.compactMap { try ResponseBodyV1(parsing: $0.body).notification_type?.rawValue }
    #expect(types.sorted() == ["CANCEL", "DID_CHANGE_RENEWAL_STATUS", "INITIAL_BUY"])
    #expect(scheduler.tally.unaddressed == 0)
    #expect(world.withState { $0.realms[0].log.records.allSatisfy(\.isSettled) })
    #expect(world.withState { $0.realms[0].log.records.map(\.attempts.count).reduce(0, +) } == 1)
    let tests = try receiver.received.filter { try ResponseBodyV2(parsing: $0.body).signedPayload != nil }
    #expect(tests.count == 1)
  }

  @Test(.timeLimit(.minutes(15)))
  func `an endpoint that hangs delays no other app and no other environment`() async throws {
    let other = SimulatedApp(bundleId: "com.example.other", appAppleId: 2, products: Rehearsal.app.products)
    let world = World(apps: [Rehearsal.app, other], seed: 1, beginning: .newYear)
    var settings = DeliverySettings()
    settings.latency = .zero ... .zero
    settings.concurrency = 2
    let answered = Mutex<[String: Int]>([:])
    let destinations = Dictionary(
      uniqueKeysWithValues: ["dead", "sandbox", "other"].enumerated().map { ($0.offset, Destination(url: $0.element)) })
    let scheduler = DeliveryScheduler(
      world: world, signer: try Rehearsal.signer(), destinations: destinations, settings: settings,
      clock: time.clock,
      post: { [time] url, _ in
        if url == "dead" {
          // Hangs until the test is over.
          do { try await time.clock.sleep(for: .seconds(86_400)) } catch { return PostOutcome(.timedOut) }
        }
        answered.withLock { $0[url, default: 0] += 1 }
        return PostOutcome(status: 200)
      }, logger: Logger(label: "test"))
    try await running(scheduler) {
      for realm in [0, 1, 2] {
        for _ in 0..<20 { try world.buy(Rehearsal.coins, in: realm, at: .newYear) }
      }
      try await waitUntil(scheduler.tally.acknowledged >= 40)
    }
    #expect(answered.withLock { $0 } == ["sandbox": 20, "other": 20])
    #expect(scheduler.tally.attempts == [.success: 40])
  }

  @Test(.timeLimit(.minutes(15)))
  func `notifications of one subscription arrive in order, even if the first is slow`() async throws {
    let world = Rehearsal.world()
    let first = AsyncStream<Void>.makeStream()
    let arrived = Mutex<[String]>([])
    var settings = DeliverySettings()
    settings.latency = .zero ... .zero
    let scheduler = DeliveryScheduler(
      world: world, signer: try Rehearsal.signer(), destinations: [0: Destination(url: "test")],
      settings: settings, clock: time.clock,
      post: { [time] _, _ in
        // The first response comes when the others have been due for a minute.
        if time.clock.wallTime == .newYear { for await _ in first.stream { break } }
        return PostOutcome(status: 200)
      }, onAttempt: { attempt in arrived.withLock { $0.append(attempt.type) } }, logger: Logger(label: "test"))
    try await running(scheduler) {
      let original = try world.buy(Rehearsal.monthly, at: .newYear)
      try world.withState { state in
        try state.setRenewal(original, isOn: false, at: .newYear + .seconds(1))
        try state.setRenewal(original, isOn: true, at: .newYear + .seconds(2))
      }
      await time.waitForSleepers(1)
      time.advance(by: .seconds(60))
      // Gives a delivery that does not wait for the first the chance to overtake it.
      for _ in 0..<1_000 { await Task.yield() }
      first.continuation.yield()
      try await waitUntil(scheduler.tally.acknowledged >= 3)
    }
    #expect(
      arrived.withLock { $0 } == [
        "SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED",
      ])
  }

  @Test(.timeLimit(.minutes(15)))
  func `a notification that is dropped before delivery is counted and frees its slot`() async throws {
    let world = Rehearsal.world(limits: WorldLimits(notifications: 4))
    let receiver = Receiver(time.clock)
    let scheduler = try scheduler(world, receiver, change: { $0.latency = .seconds(60) ... .seconds(60) })
    try await running(scheduler) {
      for _ in 0..<40 { try world.buy(Rehearsal.coins, at: .newYear) }
      await time.waitForSleepers(1)
      time.advance(by: .seconds(60))
      try await waitUntil(scheduler.tally.acknowledged + scheduler.tally.forgotten >= 40)
    }
    #expect(scheduler.tally.acknowledged >= 4 && scheduler.tally.acknowledged <= 8)
    #expect(scheduler.tally.waiting == 0)
  }

  @Test(.timeLimit(.minutes(15)))
  func `nothing is sent during a pause, and everything after it`() async throws {
    let world = Rehearsal.world()
    let receiver = Receiver(time.clock)
    let scheduler = try scheduler(
      world, receiver,
      change: {
        $0.pauses = [.init(from: .newYear, until: .newYear + .seconds(3_600))]
      })
    try await running(scheduler) {
      for _ in 0..<5 { try world.buy(Rehearsal.coins, at: .newYear) }
      await time.waitForSleepers(1)
      #expect(receiver.received.isEmpty)
      time.advance(by: hour)
      await receiver.wait(for: 5)
    }
    #expect(receiver.received.allSatisfy { $0.date == .newYear + hour })
  }
}
