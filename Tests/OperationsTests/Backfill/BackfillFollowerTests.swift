// Runs `--follow` against the simulated App Store. Notifications that Apple gave up on arrive within minutes, and each
// pass makes no more requests than it needs.

import AppStore
import AppStoreServerAPI
import MillraceTime
import KafkaClient
import Metrics
import MillraceTesting
import Synchronization
import Testing

@testable import AppStoreSimulator
@testable import MillraceCore
@testable import Operations
@testable import MillraceRecords

@Suite("millrace backfill --follow", .timeLimit(.minutes(15)))
struct BackfillFollowerTests {
  /// Runs a follower concurrently with `body`, and passes its metrics.
  private func following(
    _ stage: BackfillStage, _ process: String = "follow",
    _ body: (BackfillFollower, PrometheusRegistry) async throws -> Void
  ) async throws {
    let registry = PrometheusRegistry()
    let follower = BackfillFollower(
      try stage.parts(process), stage.targets, FollowSettings(), metrics: FollowMetrics(factory: registry),
      logger: BackfillStage.quiet)
    for collector in follower.collectors { registry.add(collector) }
    let running = Task { try await follower.follow() }
    let result: Result<Void, any Error>
    do {
      try await body(follower, registry)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    running.cancel()
    _ = await running.result
    try result.get()
  }

  /// Waits until the pass that covers the current time has ended.
  private func settle(_ stage: BackfillStage, _ follower: BackfillFollower) async throws {
    let now = stage.now
    try await stage.until {
      if follower.state.values.allSatisfy({ $0.through.map { $0 >= now } ?? false }) { return true }
      // A call in progress must not reach its time limit.
      if !follower.state.values.contains(where: \.isAsking) { stage.time.advance(by: .seconds(10)) }
      return false
    }
  }

  @Test("notifications that Apple gave up on arrive once, and delivered ones are skipped")
  func gaveUp() async throws {
    let stage = try BackfillStage(environments: [.production, .sandbox])
    try await stage.delivering {
      try stage.buy(4)
      try await stage.pass(.seconds(3_600))
      let delivered = stage.told()
      #expect(Set(stage.published()) == delivered)
      stage.set(.status(404))
      try stage.buy(30)
      try await stage.pass(.seconds(60), step: .seconds(60))
      stage.set(.up)
      try await following(stage) { follower, registry in
        try await settle(stage, follower)
        #expect(Set(stage.published()) == stage.told())
        #expect(Set(stage.published(.history)) == stage.told().subtracting(delivered))
        let once = stage.published(.history).count
        #expect(once == 60)
        // Hours of passes, including sweeps, publish nothing again.
        for _ in 0..<8 {
          stage.time.advance(by: .seconds(3_600))
          try await settle(stage, follower)
        }
        #expect(stage.published(.history).count == once)
        let page = registry.render()
        #expect(
          page.contains(
            #"millrace_backfill_published_total{app="com.example.app",environment="Sandbox",type="ONE_TIME_CHARGE"} 30"#
          ))
        #expect(page.contains(#"result="done""#) && !page.contains(#"result="failed""#))
        #expect(page.contains("millrace_backfill_behind_seconds"))
        #expect(await follower.isReady)
      }
    }
  }

  @Test("the next process continues where the previous one stopped")
  func restart() async throws {
    let stage = try BackfillStage()
    try await stage.delivering {
      try await following(stage) { follower, _ in try await settle(stage, follower) }
      let mark = try #require(try await stage.parts("look").log.table().follow(stage.targets[0]))
      let calls = stage.appStore.calls
      #expect(calls == 32, "eight days in pieces of six hours")
      stage.set(.status(404))
      stage.time.advance(by: .seconds(1_800))
      try stage.buy(3)
      try await stage.pass(.seconds(1_800))
      stage.set(.up)
      try await following(stage, "next") { follower, _ in try await settle(stage, follower) }
      #expect(Set(stage.published()) == stage.told())
      #expect(stage.appStore.calls - calls <= 3)
      let next = try #require(try await stage.parts("look").log.table().follow(stage.targets[0]))
      #expect(next.through > mark.through && next.sweptAt == mark.sweptAt)
    }
  }

  @Test("the probe reports a key that Apple refuses, and following continues when Apple accepts it")
  func refused() async throws {
    let stage = try BackfillStage()
    stage.services.inject(Fault(.unauthorized, from: stage.now, until: stage.now + .seconds(60)))
    try await stage.delivering {
      try await following(stage) { follower, registry in
        try await stage.until { follower.state.values.contains { $0.isOurs } }
        #expect(await !follower.isReady)
        #expect(registry.render().contains(#"result="failed""#))
        try await stage.until {
          if follower.state.values.allSatisfy({ $0.problem == nil && $0.through != nil }) { return true }
          // A call in progress must not reach its time limit.
          if !follower.state.values.contains(where: \.isAsking) { stage.time.advance(by: .seconds(10)) }
          return false
        }
        #expect(await follower.isReady)
      }
    }
  }

  @Test("an unverifiable notification is in the quarantine once")
  func forged() async throws {
    let stage = try BackfillStage()
    stage.appStore.interfere { interference in
      interference.after = { _, answer in
        var body = JSONObject()
        body["hasMore"] = false
        body["notificationHistory"] = [["signedPayload": "eyJhbGciOiJub25lIn0.e30."]]
        return ExchangeAnswer(status: 200, headers: answer.headers, body: body.serialized())
      }
    }
    try await following(stage) { follower, registry in
      try await settle(stage, follower)
      stage.time.advance(by: .seconds(301))
      try await settle(stage, follower)
      #expect(stage.quarantined().count == 1 && stage.published().isEmpty)
      #expect(
        registry.render().contains(
          #"millrace_backfill_quarantined_total{app="com.example.app",environment="Production",reason=""#))
    }
  }
}

extension BackfillFollower {
  fileprivate var isReady: Bool {
    get async {
      do { return try await readiness.run().isHealthy } catch { return false }
    }
  }
}
