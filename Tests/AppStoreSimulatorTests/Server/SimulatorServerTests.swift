// Tests the server through real sockets, as an HTTP client sees it.

import AppStore
import AsyncHTTPClient
import MillraceTime
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Testing

@testable import AppStoreSimulator

@Suite(.timeLimit(.minutes(15))) struct SimulatorServerTests {
  private static let quiet = Logger(label: "simulator tests") { _ in SwiftLogNoOpLogHandler() }

  /// Runs a server while `body` uses it.
  private func withServer(
    _ simulator: SimulatorFixture, _ body: @escaping @Sendable (SimulatorPorts, HTTPClient) async throws -> Void
  ) async throws {
    let (ports, listening) = AsyncStream<SimulatorPorts>.makeStream()
    let control = SimulatorControl(rootPEM: "PEM", report: { ["sent": 7] }) { event in
      guard event["event"] == "rain" else { throw WorldError.impossible("no such event") }
      return "it rains"
    }
    let server = SimulatorServer(
      simulator.services, control: control, clock: simulator.time.clock, logger: Self.quiet,
      onListening: { listening.yield($0) })
    let group = ServiceGroup(configuration: .init(services: [server], logger: Self.quiet))
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.timeout.connect = .seconds(120)
    let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    let result: Result<Void, any Error>
    do {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        let first = try #require(await ports.first { _ in true })
        try await body(first, client)
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    try await client.shutdown()
    try result.get()
  }

  private func request(_ path: String, _ port: Int?, _ authorization: String? = nil) throws -> HTTPClientRequest {
    var request = HTTPClientRequest(url: "http://127.0.0.1:\(try #require(port))\(path)")
    if let authorization { request.headers.add(name: "Authorization", value: authorization) }
    return request
  }

  @Test func `production and sandbox are two ports with the same paths`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let authorization = try simulator.caller.authorization(now: simulator.now)
    try await withServer(simulator) { ports, client in
      let path = "/inApps/v1/transactions/\(id)"
      let found = try await client.execute(request(path, ports.production, authorization), timeout: .seconds(30))
      #expect(found.status == .ok)
      #expect(found.headers["Content-Type"] == ["application/json"])
      // The scenario's time, not the machine's. It shows a caller that its clock is wrong.
      #expect(found.headers["Date"] == ["Thu, 01 Jan 2026 00:00:00 GMT"])
      let json = try JSONObject(parsing: Array(try await found.body.collect(upTo: 1 << 20).readableBytesView))
      #expect(try await simulator.transaction(json["signedTransactionInfo"]).transactionId == String(id))
      let other = try await client.execute(request(path, ports.sandbox, authorization), timeout: .seconds(30))
      #expect(other.status == .notFound)
      _ = try await other.body.collect(upTo: 1 << 20)
    }
  }

  @Test func `query, body and headers arrive, and Retry-After is returned`() async throws {
    let simulator = try SimulatorFixture {
      $0.faults = [Fault(.tooManyRequests(.milliseconds(from: .seconds(60))), endpoints: [.lookUpOrderId])]
    }
    let id = try simulator.buy()
    let authorization = try simulator.caller.authorization(now: simulator.now)
    try await withServer(simulator) { ports, client in
      let wrong = try await client.execute(
        request("/inApps/v2/history/\(id)?productType=CONSUMABLE&sort=%55P", ports.production, authorization),
        timeout: .seconds(30))
      let body = try JSONObject(parsing: Array(try await wrong.body.collect(upTo: 1 << 20).readableBytesView))
      #expect(body["errorCode"] == 4_000_021)
      var extend = try request("/inApps/v1/subscriptions/extend/\(id)", ports.production, authorization)
      extend.method = .PUT
      extend.body = .bytes(ByteBuffer(string: #"{"extendByDays":1,"extendReasonCode":0,"requestIdentifier":"r"}"#))
      #expect(try await client.execute(extend, timeout: .seconds(30)).status == .ok)
      let limited = try await client.execute(
        request("/inApps/v1/lookup/M", ports.production, authorization), timeout: .seconds(30))
      #expect(limited.status == .tooManyRequests)
      #expect(limited.headers["Retry-After"] == ["1767225660000"])
    }
  }

  @Test(arguments: [FaultEffect.connectionReset, .answerLost])
  func `a reset connection is an error for the caller, and the next request works`(effect: FaultEffect) async throws {
    let simulator = try SimulatorFixture { $0.faults = [Fault(effect, count: 1)] }
    let authorization = try simulator.caller.authorization(now: simulator.now)
    try await withServer(simulator) { ports, client in
      let request = try request("/inApps/v1/transactions/1", ports.production, authorization)
      await #expect(throws: (any Error).self) { try await client.execute(request, timeout: .seconds(30)) }
      #expect(try await client.execute(request, timeout: .seconds(30)).status == .notFound)
    }
  }

  @Test func `a truncated body has its head and then ends`() async throws {
    let simulator = try SimulatorFixture { $0.faults = [Fault(.truncatedBody(share: 0.5), count: 1)] }
    let id = try simulator.buy()
    let authorization = try simulator.caller.authorization(now: simulator.now)
    try await withServer(simulator) { ports, client in
      let request = try request("/inApps/v1/transactions/\(id)", ports.production, authorization)
      let answer = try await client.execute(request, timeout: .seconds(30))
      #expect(answer.status == .ok)
      await #expect(throws: (any Error).self) { try await answer.body.collect(upTo: 1 << 20) }
      #expect(try await client.execute(request, timeout: .seconds(30)).status == .ok)
    }
  }

  @Test func `the control endpoints read and change the state, without a token`() async throws {
    let simulator = try SimulatorFixture()
    try await withServer(simulator) { ports, client in
      func ask(_ method: HTTPMethod, _ path: String, _ body: String? = nil) async throws -> (UInt, String) {
        var request = try request("/simulator/\(path)", ports.sandbox)
        request.method = method
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let answer = try await client.execute(request, timeout: .seconds(30))
        return (answer.status.code, String(buffer: try await answer.body.collect(upTo: 1 << 20)))
      }
      #expect(try await ask(.GET, "root.pem") == (200, "PEM"))
      #expect(
        try await ask(.POST, "faults", #"{"effect":"outage","endpoints":["lookUpOrderId"]}"#) == (201, #"{"id":1}"#))
      #expect(
        try await ask(.GET, "faults") == (200, #"{"faults":[{"id":1,"effect":"status","struck":0}]}"#))
      #expect(try await ask(.DELETE, "faults/1").0 == 204)
      #expect(try await ask(.DELETE, "faults/1").0 == 404)
      let mistake = try await ask(.POST, "faults", #"{"effect":"outage","endpoint":"x"}"#)
      #expect(mistake.0 == 400)
      #expect(
        try JSONObject(parsing: Array(mistake.1.utf8)) == [
          "error": "endpoint: unknown member, or not one of this effect; did you mean endpoints?", "key": "endpoint",
          "nearest": "endpoints",
        ])
      #expect(try await ask(.POST, "events", #"{"event":"rain"}"#) == (200, #"{"done":"it rains"}"#))
      #expect(try await ask(.POST, "events", #"{"event":"snow"}"#).0 == 400)
      #expect(try await ask(.POST, "events", "{").0 == 400)
      let report = try await ask(.GET, "report")
      #expect(report.0 == 200)
      #expect(report.1.contains(#""sent":7"#))
      #expect(report.1.hasPrefix(#"{"now":"2026-01-01T00:00:00.000Z","asked":[]"#))
      #expect(try await ask(.GET, "journal") == (200, #"{"requests":[]}"#))
      #expect(try await ask(.PUT, "report").0 == 404)
    }
  }
}
