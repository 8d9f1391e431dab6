// Tests the handler context as an author of a worker would.

import AppStore
import AppStoreServerAPI
import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceTesting
import Synchronization
import Testing
import MillraceCore

@Suite(.timeLimit(.minutes(15))) struct HandlerContextTests {
  /// A server that answers every call with success. The first call can have another result.
  private final class Apple: HTTPExchange {
    let calls = Mutex(0)
    private let first: Result<ExchangeAnswer, TransportFailure>?

    init(first: Result<ExchangeAnswer, TransportFailure>? = nil) { self.first = first }

    convenience init(retryAfter: Timestamp) {
      self.init(
        first: .success(
          ExchangeAnswer(status: 429, headers: ["Retry-After": "\(retryAfter.millisecondsSince1970)"])))
    }

    func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
      let number = calls.withLock { calls in
        calls += 1
        return calls
      }
      if number == 1, let first { return try first.get() }
      return ExchangeAnswer(
        status: 200, headers: ["Content-Type": "application/json"],
        body: Array(#"{"testNotificationToken":"\#(number)"}"#.utf8))
    }
  }

  @Test func `a call waits for a rate-limit slot that is near, otherwise its record is delayed without an attempt`()
    async throws
  {
    var setup = WorkerHarness.Setup()
    let apple = Apple()
    setup.appStore = apple
    // The budget is 0.8 calls a second, so the sixth of eight calls would wait longer than five seconds.
    try await WorkerHarness.run(Caller.self, setup) { harness in
      for _ in 0..<8 { try await harness.receive(.didRenew) }
      #expect(try await harness.events().count == 1)
      #expect(await harness.delayed().map(\.count) == [3, 0, 0, 0, 0])
      #expect(
        await harness.delayed()[0].allSatisfy { DeliveryHistory($0).attempt == 0 && DeliveryHistory($0).due != nil })
      for half in 1...40 {
        try await harness.advance(by: .milliseconds(500))
        let count = try await harness.events().count
        #expect(Double(count) <= 2 + Double(half) / 2 * 0.8, "after \(half) half seconds")
      }
      let events = try await harness.events()
      #expect(events.count == 8 && apple.calls.withLock { $0 } == 8)
      #expect(events.first?.data == .object(["answer": "1", "wasFree": .bool(true)]))
      #expect(events.dropFirst().contains { $0.data == .object(["answer": "2", "wasFree": .bool(false)]) })
      #expect(try await harness.deadLetters().isEmpty)
    }
  }

  @Test func `an effect whose call has to wait is not begun and uses one rate-limit slot`() async throws {
    var setup = WorkerHarness.Setup()
    let apple = Apple()
    setup.appStore = apple
    try await WorkerHarness.run(OnceCaller.self, setup) { harness in
      for _ in 0..<8 { try await harness.receive(.didRenew) }
      #expect(await harness.delayed().map(\.count) == [3, 0, 0, 0, 0])
      for _ in 0..<40 { try await harness.advance(by: .milliseconds(500)) }
      let events = try await harness.events()
      #expect(events.count == 8 && apple.calls.withLock { $0 } == 8)
      #expect(events.allSatisfy { $0.data == .object(["wasBegunBefore": "false"]) })
    }
  }

  @Test(
    arguments: [
      (.success(ExchangeAnswer(status: 429)), false), (.failure(TransportFailure("refused", .notSent)), false),
      (.success(ExchangeAnswer(status: 503)), true), (.failure(TransportFailure("reset", .unclear)), true),
    ] as [(Result<ExchangeAnswer, TransportFailure>, Bool)])
  func `an effect whose call certainly had no effect counts as not begun`(
    _ first: Result<ExchangeAnswer, TransportFailure>, _ mayBeDone: Bool
  ) async throws {
    var setup = WorkerHarness.Setup()
    let apple = Apple(first: first)
    setup.appStore = apple
    try await WorkerHarness.run(OnceCaller.self, setup) { harness in
      try await harness.receive(.didRenew)
      #expect(try await harness.events().isEmpty)
      #expect(apple.calls.withLock { $0 } == 1)
      for _ in 0..<120 { try await harness.advance(by: .seconds(1)) }
      #expect(try await harness.events().map(\.data) == [.object(["wasBegunBefore": .string("\(mayBeDone)")])])
      #expect(apple.calls.withLock { $0 } == 2)
    }
  }

  @Test func `nine tenths of the budget are used while work is waiting`() async throws {
    var setup = WorkerHarness.Setup()
    let apple = Apple()
    setup.appStore = apple
    try await WorkerHarness.run(Caller.self, setup) { harness in
      for _ in 0..<300 { try await harness.receive(.didRenew) }
      for minute in 1...5 {
        let before = apple.calls.withLock { $0 }
        for _ in 0..<240 { try await harness.advance(by: .milliseconds(250)) }
        let used = apple.calls.withLock { $0 } - before
        // The budget is 0.8 calls a second. The first delayed records wait ten seconds although five would be enough.
        #expect(((minute == 1 ? 38 : 44)...49).contains(used), "minute \(minute)")
      }
      #expect(try await harness.deadLetters().isEmpty)
      // Records do not return before a slot can be free, so a long backlog does not cause constant retries.
      let delayed = await harness.delayed().map(\.count).reduce(0, +)
      #expect(delayed < 300 * 12, "\(delayed) times")
    }
  }

  @Test func `the worker's budget is the configured share of the divided limit`() async throws {
    var setup = WorkerHarness.Setup()
    let apple = Apple()
    setup.appStore = apple
    setup.configuration.appStore.share = 0.5
    setup.configuration.appStore.limitDivisor = 2
    try await WorkerHarness.run(Caller.self, setup) { harness in
      for _ in 0..<100 { try await harness.receive(.didRenew) }
      for _ in 0..<400 { try await harness.advance(by: .milliseconds(500)) }
      // The budget is 0.25 calls a second.
      #expect((30...51).contains(apple.calls.withLock { $0 }))
    }
  }

  @Test func `a 429 delays the record until the time that Apple names`() async throws {
    var setup = WorkerHarness.Setup()
    setup.appStore = Apple(retryAfter: ManualClock().clock.wallTime + .seconds(100))
    try await WorkerHarness.run(Caller.self, setup) { harness in
      try await harness.receive(.didRenew)
      for _ in 0..<99 { try await harness.advance(by: .seconds(1)) }
      #expect(try await harness.events().isEmpty)
      for _ in 0..<20 { try await harness.advance(by: .seconds(1)) }
      #expect(try await harness.events().count == 1)
      #expect(await harness.delayed().flatMap(\.self).allSatisfy { DeliveryHistory($0).attempt == 0 })
    }
  }

  @Test func `the context has the time, the deadline and the number of attempts`() async throws {
    try await WorkerHarness.run(Teller.self) { harness in
      try await harness.receive(.didRenew)
      try await harness.advance(by: .seconds(60))
      let event = try #require(try await harness.events().last { $0.name == "told" })
      #expect(
        event.data
          == .object([
            "attempt": .integer(1), "isReapplied": .bool(false),
            "now": .integer(harness.clock.wallTime.millisecondsSince1970),
            "secondsLeft": .integer(60),
          ]))
    }
  }

  @Test func `a retry outcome also sets timers and writes rows`() async throws {
    try await WorkerHarness.run(Teller.self) { harness in
      try await harness.receive(.didRenew)
      #expect(harness.log.records(in: "table").map(\.value) == [Array("0".utf8)])
      try await harness.advance(by: .seconds(30))
      let fired = try #require(try await harness.events().first)
      let now = JSON.integer(harness.clock.wallTime.millisecondsSince1970)
      #expect(fired.name == "fired" && fired.data == .object(["at": now, "now": now]))
      #expect(!fired.record.headers.contains { $0.name == "traceparent" })
      try await harness.advance(by: .seconds(30))
      #expect(harness.log.records(in: "table").map(\.value) == [Array("0".utf8), Array("1".utf8)])
    }
  }

  @Test func `a notification with a deadline is retried before it and then becomes a dead letter`() async throws {
    try await WorkerHarness.run(Teller.self) { harness in
      try await harness.receive(.gracePeriodExpired)
      #expect(await harness.delayed().map(\.count) == [0, 1, 0, 0, 0])
      for _ in 0..<9 { try await harness.advance(by: .seconds(10)) }
      #expect(try await harness.deadLetters().isEmpty)
      for _ in 0..<2 { try await harness.advance(by: .seconds(10)) }
      #expect(try await harness.deadLetters().map(\.reason) == ["deadline-missed"])
    }
  }
}
