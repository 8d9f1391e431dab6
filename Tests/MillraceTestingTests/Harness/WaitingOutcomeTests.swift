// Tests the outcomes that wait without an attempt, and the dead letters of timers.

import AppStore
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceTime
import Testing

@testable import MillraceWorker

/// Waits until a time for each notification, and sets a timer whose handler waits once and then gives up.
private struct Waiter: NotificationWorker {
  static let name = "waiter"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let opens = ManualClock().clock.wallTime + .seconds(95)

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    guard context.clock.wallTime >= Self.opens else { return .wait(until: Self.opens, because: "not-open") }
    return try .emit(Told(attempt: context.attempt))
      .settingTimer("soon", at: context.clock.wallTime + .seconds(10), payload: [1])
  }

  func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    switch timer.payload {
    case [1]:
      let end = timer.at + .seconds(100)
      guard context.clock.wallTime >= end else { return .wait(until: end, because: "not-open") }
      return Outcome.deadLetter("gone", "nobody is there")
        .settingTimer("soon", at: timer.at, payload: [2]).settingTimer("other", at: end + .seconds(5), payload: [3])
    default: return try .emit(Told(attempt: Int(timer.payload.first ?? 0)))
    }
  }

  struct Told: WorkerEvent {
    static let eventName = "told"
    var attempt: Int
  }
}

@Suite(.timeLimit(.minutes(15))) struct WaitingOutcomeTests {
  @Test func `a record that waits counts no attempt, and a timer can become a dead letter`() async throws {
    try await WorkerHarness.run(Waiter.self) { harness in
      try await harness.receive(.didRenew)
      for _ in 0..<9 { try await harness.advance(by: .seconds(10)) }
      #expect(try await harness.events().isEmpty)
      let delayed = await harness.delayed().flatMap(\.self)
      #expect(!delayed.isEmpty && delayed.allSatisfy { DeliveryHistory($0).attempt == 0 })
      #expect(delayed.allSatisfy { DeliveryHistory($0).causes.isEmpty })
      for _ in 0..<2 { try await harness.advance(by: .seconds(10)) }
      #expect(try await harness.events().map(\.data) == [["attempt": 0]])
      // The timer is due, and waits without a warning until its own time.
      for _ in 0..<11 { try await harness.advance(by: .seconds(9)) }
      #expect(try await harness.deadLetters().isEmpty)
      for _ in 0..<3 { try await harness.advance(by: .seconds(9)) }
      let letter = try #require(try await harness.deadLetters().first)
      #expect(letter.reason == "gone" && letter.detail == "nobody is there")
      let dead = try #require(NamedTimer(letter.record))
      #expect(dead.name == "soon" && dead.timer.payload == [2], "a requeue sets what the outcome says")
      for _ in 0..<3 { try await harness.advance(by: .seconds(9)) }
      #expect(try await harness.events().map(\.data) == [["attempt": 0], ["attempt": 3]])
      #expect(try await harness.deadLetters().count == 1)
    }
  }
}
