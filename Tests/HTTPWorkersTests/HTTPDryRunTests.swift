// Dry runs of a worker whose handler is an HTTP endpoint.

import AppStore
import AppStoreServerAPI
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceWorker
import Operations
import Synchronization
import Testing

@testable import HTTPWorkers

@Suite(.timeLimit(.minutes(10))) struct HTTPDryRunTests {
  private static func plan(_ harness: WorkerHarness) async throws -> (ReplayOperation, ReplayPlan) {
    let replay = ReplayOperation(on: harness.log, prefix: "", author: "ann")
    var selection = RecordSelection()
    selection.topics = ["appstore.notifications.subscriptions"]
    return (replay, try await replay.plan(ReplayRequest(selection, to: .worker("winback"), reapply: "a fix")))
  }

  /// The version of the endpoint's code.
  private final class Version: Sendable {
    let number = Mutex<Int64>(1)
  }

  /// Returns an endpoint that publishes its version, and orders a call if `calls` is true. In version 2 it still publishes
  /// the first version for a tenth of the notifications, and nothing for another tenth.
  private static func endpoint(_ version: Version, confirms: Bool, calls: Bool = false) throws -> StubEndpoint {
    try StubEndpoint { request in
      let number = version.number.withLock { $0 }
      let isDry = request.headers["millrace-dry-run"] != nil
      guard isDry == (request["dryRun"] == true) else { return .answer(500) }
      var outcome: JSONObject = [
        "events": [["name": "seen", "data": ["version": .integer(request.key.hasSuffix("3") ? 1 : number)]]]
      ]
      if number == 2, request.key.hasSuffix("5") { outcome["events"] = [] }
      if calls, request.kind == "notification" {
        outcome["calls"] = [
          [
            "name": "look", "operation": "getTransactionInfo",
            "arguments": ["transactionId": "2000000100000918"],
          ]
        ]
      }
      let headers: [(String, String)] =
        [("content-type", "application/json")] + (isDry && confirms ? [("millrace-dry-run", "1")] : [])
      return .answer(
        200, APIHeaders(headers.map { .init(name: $0.0, value: $0.1) }),
        String(decoding: outcome.serialized(), as: UTF8.self))
    }
  }

  @Test func `a dry run of an endpoint that does not declare it is refused before a request`() async throws {
    let endpoint = try Self.endpoint(Version(), confirms: true)
    try await endpoint.run { harness in
      try await harness.receive(.didRenew)
      let (replay, plan) = try await Self.plan(harness)
      let commands = try await replay.commands(for: plan)
      let error = await #expect(throws: MillraceError.self) { try await harness.dryRun(commands) }
      #expect(error?.description.contains("workers.winback.handler.dryRuns") == true)
      #expect(endpoint.requests.count == 1)
    }
  }

  @Test func `an endpoint that does not confirm a dry run gets no further requests`() async throws {
    let endpoint = try Self.endpoint(Version(), confirms: false)
    try await endpoint.run(change: { ($0.handler.dryRuns, $0.parallelism) = (true, 1) }) { harness in
      for _ in 0..<20 { try await harness.receive(.didRenew) }
      let (replay, plan) = try await Self.plan(harness)
      let commands = try await replay.commands(for: plan)
      let error = await #expect(throws: MillraceError.self) { try await harness.dryRun(commands) }
      #expect(error?.description.contains("does not confirm") == true)
      #expect(endpoint.requests.count <= 22, "at most one for each lane")
    }
  }

  @Test func `a dry run of a changed endpoint counts what the run then does`() async throws {
    let version = Version()
    let endpoint = try Self.endpoint(version, confirms: true)
    try await endpoint.run(change: { $0.handler.dryRuns = true }) { harness in
      for number in 0..<200 {
        try await harness.receive(number % 2 == 0 ? .didRenew : .expired) {
          $0.setOriginalTransactionId("\(2_000_000_000_000_000 + number)")
        }
      }
      version.number.withLock { $0 = 2 }
      let (replay, plan) = try await Self.plan(harness)
      let dry = try await harness.dryRun(try await replay.commands(for: plan), showing: 1)
      #expect(try await harness.events().count == 200)
      let run = try #require(try await replay.begin(plan))
      _ = try await replay.follow(run.id, patience: .seconds(60)) { _ in }
      try await harness.settle()
      let outcome = try await RunOutcome.read(run.id, harness.topics, in: harness.log)
      #expect(dry.outcome == outcome && outcome.records == [.superseded: 180, .unchanged: 20] && outcome.events == 160)
      #expect(dry.supersededByNothing == 20)
      #expect(dry.differences.first?.lines.count == 2)
      #expect(endpoint.requests.count { $0["dryRun"] == true } == 200)
    }
  }

  @Test func `a dry run makes none of the calls that the endpoint orders`() async throws {
    let endpoint = try Self.endpoint(Version(), confirms: true, calls: true)
    try await endpoint.run(change: { $0.handler.dryRuns = true }) { harness in
      try await harness.receive(.didRenew)
      let before = endpoint.requests.count
      let (replay, plan) = try await Self.plan(harness)
      let dry = try await harness.dryRun(try await replay.commands(for: plan))
      #expect(dry.outcome.records == [.unchanged: 1] && dry.timersThatWouldCall == 1)
      #expect(endpoint.requests.count == before + 1)
    }
  }
}
