import MillraceTime
import AsyncHTTPClient
import CoreMetrics
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Testing

@testable import MillraceCore

@Suite struct AdminServerTests {
  /// Runs a server on a free port while `body` sends requests.
  private func serving(
    _ checks: [ReadinessCheck], heartbeat: Heartbeat, _ body: (String) async throws -> Void
  ) async throws {
    var settings = AdminSettings()
    settings.host = "127.0.0.1"
    settings.port = 0
    let registry = PrometheusRegistry()
    registry.makeCounter(label: "things", dimensions: []).increment(by: 3)
    let (ports, told) = AsyncStream.makeStream(of: Int.self)
    let server = AdminServer(
      settings, registry: registry, heartbeat: heartbeat,
      readiness: ReadinessBoard(checks, clock: ManualClock().clock, timeout: .seconds(3), maxAge: .zero),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      onListening: { told.yield($0) })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      var iterator = ports.makeAsyncIterator()
      let port = try #require(await iterator.next())
      try await body("http://127.0.0.1:\(port)")
      group.cancelAll()
    }
  }

  private func get(_ url: String) async throws -> (status: UInt, type: String?, body: String) {
    let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(120))
    let body = try await response.body.collect(upTo: 1 << 20)
    return (response.status.code, response.headers.first(name: "content-type"), String(buffer: body))
  }

  @Test func `The server serves metrics, liveness and readiness`() async throws {
    let ready = ReadinessCheck("kafka", remedy: "r") { .healthy("3 brokers answer") }
    try await serving([ready], heartbeat: Heartbeat(clock: ManualClock().clock)) { base in
      let metrics = try await get("\(base)/metrics")
      #expect(metrics.status == 200)
      #expect(metrics.type == "text/plain; version=0.0.4; charset=utf-8")
      #expect(metrics.body.contains("\nthings_total 3\n"))
      let live = try await get("\(base)/livez")
      #expect(live.status == 200)
      #expect(live.body.contains(#""status":"alive""#))
      let readiness = try await get("\(base)/readyz")
      #expect(readiness.status == 200)
      #expect(readiness.body.contains("3 brokers answer"))
      #expect(try await get("\(base)/").status == 404)
    }
  }

  @Test func `A failing check makes the process not ready, but it stays alive`() async throws {
    let failing = ReadinessCheck("topics", remedy: "apply") { .unhealthy("weak", remedy: "apply") }
    try await serving([failing], heartbeat: Heartbeat(clock: ManualClock().clock)) { base in
      let readiness = try await get("\(base)/readyz")
      #expect(readiness.status == 503)
      #expect(readiness.body.contains(#""do":"apply""#))
      #expect(try await get("\(base)/livez").status == 200)
    }
  }

  @Test func `A process without a heartbeat is not alive`() async throws {
    let manual = ManualClock()
    let heartbeat = Heartbeat(clock: manual.clock)
    manual.advance(by: .seconds(60))
    try await serving([], heartbeat: heartbeat) { base in
      let live = try await get("\(base)/livez")
      #expect(live.status == 503)
      #expect(live.body.contains("blocked"))
    }
  }
}
