// Tests effects, states and timers whose content is a Codable value.

import AppStore
import MillraceRecords
import MillraceWorker
import MillraceTesting
import MillraceTime
import Synchronization
import Testing

/// Counts renewals, sends each count once, and publishes it a minute later. The first attempt fails after the effect.
private struct Counter: NotificationWorker {
  static let name = "counter"
  static let families: Set<NotificationFamily> = [.subscriptions]
  /// The requests that the effect has sent, by the name of the effect.
  static let sent = Mutex<[String: [Count]]>([:])

  struct Count: Codable, Sendable, Hashable {
    var number: Int
    var attempt: Int
  }

  struct Receipt: Codable, Sendable { var id: String }

  struct Counted: WorkerEvent {
    static let eventName = "counted"
    var number: Int
    var receipt: String
  }

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let name = "count/\(notification.key)"
    let last = try await context.state(name, as: Count.self)?.number ?? 0
    let count = Count(number: last + 1, attempt: context.attempt)
    let effect = "send/\(notification.id)"
    let receipt = try await context.once(effect, sending: count) { count, intent in
      Self.sent.withLock { $0[intent.name, default: []].append(count) }
      // The first attempt does not learn its result.
      if context.attempt == 0 { throw HandlerFailed("no answer") }
      return Receipt(id: "r\(count.number)")
    }
    let known = try await context.effect(effect)?.result(as: Receipt.self)
    guard known?.id == receipt.id else { return .deadLetter("test", "the effect has another result") }
    return try .done(.keeping(name, encoding: count)).settingTimer(
      "later/\(notification.id)", at: context.clock.wallTime + .seconds(60),
      encoding: ["number": count.number, "receipt": Int(receipt.id.dropFirst()) ?? 0])
  }

  func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    let payload = try timer.payload(as: [String: Int].self)
    return try .emit(Counted(number: payload["number"] ?? 0, receipt: "r\(payload["receipt"] ?? 0)"))
  }
}

/// Reads a state as a type that it is not.
private struct Confused: NotificationWorker {
  static let name = "confused"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    if case .didRenew = notification.event { return .done(try .keeping("s", encoding: ["text"])) }
    _ = try await context.state("s", as: [String: Int].self)
    return .ignore
  }
}

@Suite(.timeLimit(.minutes(15))) struct CodableValuesTests {
  @Test func `effects, states and timers hold values, and a repeated effect has the first value`() async throws {
    Counter.sent.withLock { $0 = [:] }
    try await WorkerHarness.run(Counter.self) { harness in
      for _ in 0..<2 {
        try await harness.receive(.didRenew) { $0.setOriginalTransactionId("2000000000000001") }
        // Until the second attempt.
        try await harness.advance(by: .seconds(20))
      }
      try await harness.advance(by: .seconds(120))
      let counted = try await harness.events().compactMap { event -> [JSON?]? in
        guard case .object(let data) = event.data else { return nil }
        return [data["number"], data["receipt"]]
      }
      #expect(counted == [[1, "r1"], [2, "r2"]])
    }
    // The second attempt sends the value of the first one.
    let sent = Counter.sent.withLock { $0.values.sorted { ($0.first?.number ?? 0) < ($1.first?.number ?? 0) } }
    #expect(sent.count == 2 && sent.allSatisfy { $0.count == 2 && Set($0).count == 1 && $0[0].attempt == 0 })
  }

  @Test func `a state that does not decode makes a dead letter that names it`() async throws {
    var setup = WorkerHarness.Setup()
    setup.lanes = 1
    try await WorkerHarness.run(Confused.self, setup) { harness in
      try await harness.receive(.didRenew)
      try await harness.receive(.expired, .voluntary)
      let death = try #require(try await harness.deadLetters().first)
      #expect(death.reason == "stored-value")
    }
  }
}
