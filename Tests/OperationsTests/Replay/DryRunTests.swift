// Dry runs of a replay, on an overlay of an in-memory log, beside the worker whose records they read.

import AppStore
import Foundation
import KafkaClient
import MillraceRecords
import MillraceTesting
import MillraceTime
@testable import MillraceWorker
import Synchronization
import Testing

@testable import Operations

/// Counts the notifications of each key in a state. In its second version, renewals have another event and some
/// notifications fail.
private struct Changing: NotificationWorker {
  static let name = "changing"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let isSecond = Mutex(false)
  static let runs = Mutex(0)

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    Self.runs.withLock { $0 += 1 }
    let count = try await context.state(notification.key)?.first ?? 0
    let isSecond = Self.isSecond.withLock { $0 }
    let type = notification.payload?.notificationType
    if isSecond, type == .gracePeriodExpired { return .deadLetter("unwanted", "in version 2") }
    if isSecond, type == .didFailToRenew { return .retry(because: "unwanted", detail: "in version 2") }
    var results = Outcome.Results()
    results.events = try [EncodedEvent(Seen(version: isSecond && type == .didRenew ? 2 : 1))]
    return .done(results.keeping(notification.key, [count &+ 1]))
  }

  struct Seen: WorkerEvent {
    static let eventName = "seen"
    var version: Int
  }
}

/// Acts once for each renewal, and in its second version also for other notifications, where it catches every error.
private struct Acting: NotificationWorker {
  static let name = "acting"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let isSecond = Mutex(false)
  static let acts = Mutex(0)

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let isRenewal = notification.payload?.notificationType == .didRenew
    guard isRenewal || Self.isSecond.withLock({ $0 }) else { return .ignore }
    do {
      _ = try await context.once("act/\(notification.key)", body: [1]) { _ in
        Self.acts.withLock { $0 += 1 }
        return [2]
      }
    } catch {
      return .ignore
    }
    return try .emit(Changing.Seen(version: 1))
  }
}

// Serialized, because its workers share their versions.
@Suite(.timeLimit(.minutes(15)), .serialized) struct DryRunTests {
  private static let topic = "appstore.notifications.subscriptions"

  private static func reapply(_ change: (inout RecordSelection) -> Void = { _ in }) -> ReplayRequest {
    var selection = RecordSelection()
    selection.topics = [topic]
    change(&selection)
    return ReplayRequest(selection, to: .worker("changing"), reapply: "a fix")
  }

  @Test func `recorded effects give their results, others are counted, and a handler cannot hide that`() async throws {
    try await WorkerHarness.run(Acting.self) { harness in
      try await harness.receive(.didRenew) { $0.setOriginalTransactionId("1") }
      try await harness.receive(.expired) { $0.setOriginalTransactionId("2") }
      #expect(Acting.acts.withLock { $0 } == 1)
      Acting.isSecond.withLock { $0 = true }
      let replay = ReplayOperation(on: harness.log, prefix: "", author: "ann")
      var request = Self.reapply()
      request.target = .worker("acting")
      let plan = try await replay.plan(request)
      let report = try await harness.dryRun(try await replay.commands(for: plan), showing: 5)
      #expect(
        report.sent == 2 && report.outcome.records == [.unchanged: 1, .wouldCall: 1] && report.outcome.events == 0)
      #expect(report.timersThatWouldCall == 0 && Acting.acts.withLock { $0 } == 1)
      #expect(report.differences.map(\.ending) == [.wouldCall])
      #expect(report.differences.first?.lines.first?.contains("a dry run does not perform the effect act/2") == true)
    }
  }

  @Test func `a dry run that needs too much memory ends, and writes nothing`() async throws {
    Acting.isSecond.withLock { $0 = false }
    try await WorkerHarness.run(Acting.self) { harness in
      for _ in 0..<20 { try await harness.receive(.expired) }
      let replay = ReplayOperation(on: harness.log, prefix: "", author: "ann")
      var request = Self.reapply()
      request.target = .worker("acting")
      let commands = try await replay.commands(for: try await replay.plan(request))
      let before = harness.log.everything(of: harness.topics)
      let error = await #expect(throws: MillraceError.self) {
        try await harness.dryRun(commands, memoryLimit: 20_000)
      }
      #expect(error?.problems.first?.remedy.contains("--limit") == true, "\(String(describing: error))")
      #expect(harness.log.everything(of: harness.topics) == before)
    }
  }

  /// `scripts/test --all` sets it to 10,000. A notification takes 10 ms to sign.
  private static let count = ProcessInfo.processInfo.environment["MILLRACE_DRY_RUN"].flatMap { Int($0) } ?? 1_000

  @Test func `a dry run of a changed handler counts what the run then does`() async throws {
    var setup = WorkerHarness.Setup()
    setup.lanes = 4
    try await WorkerHarness.run(Changing.self, setup) { harness in
      Changing.isSecond.withLock { $0 = false }
      let kinds: [NotificationTypeV2] = [.didRenew, .subscribed, .didFailToRenew, .gracePeriodExpired, .expired]
      try await harness.receive(contentsOf: (0..<Self.count).map { kinds[$0 % 100 < 96 ? $0 % 2 : $0 % 5] })
      Changing.isSecond.withLock { $0 = true }
      let replay = ReplayOperation(on: harness.log, prefix: "", author: "ann")
      let plan = try await replay.plan(Self.reapply())

      let before = harness.log.everything(of: harness.topics)
      let runs = Changing.runs.withLock { $0 }
      let dry = try await harness.dryRun(try await replay.commands(for: plan), showing: 2)
      #expect(harness.log.everything(of: harness.topics) == before, "a dry run writes nothing")
      #expect(Changing.runs.withLock { $0 } == runs + Self.count)

      let run = try #require(try await replay.begin(plan))
      _ = try await replay.follow(run.id, patience: .seconds(120)) { _ in }
      try await harness.settle()
      let outcome = try await RunOutcome.read(run.id, harness.topics, in: harness.log)
      for json in [dry.outcome.json(of: dry.sent), outcome.json(of: Int64(Self.count))] {
        print(String(decoding: json.serialized(), as: UTF8.self))
      }
      #expect(dry.sent == Int64(Self.count) && dry.outcome == outcome)
      #expect(
        outcome[.superseded] > Int64(Self.count) * 4 / 10 && outcome[.dead] == Int64(Self.count) / 100
          && outcome.waiting(of: dry.sent) == Int64(Self.count) / 100)
      let status = try await replay.status(of: run.id, among: RunReaders(workers: [], notificationTopics: []))
      #expect(status.outcome == outcome.json(of: Int64(Self.count)))
      #expect(dry.differences.count == 2)
      for difference in dry.differences where difference.ending == .superseded {
        #expect(difference.lines.count == 2 && difference.lines.first?.contains(#"{"version":1}"#) == true)
      }
    }
  }
}

extension InMemoryLog {
  /// All records of a worker's topics.
  fileprivate func everything(of topics: WorkerTopics) -> [[ConsumerRecord]] {
    (topics.laneTopics + topics.others).map { records(in: $0) }
  }
}
