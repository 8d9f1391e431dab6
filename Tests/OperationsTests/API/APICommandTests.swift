// Runs the built `millrace api` against a simulated App Store over sockets, and checks its error output.

import AppStoreSigning
import AppStoreSimulator
import MillraceTime
import Foundation
import Logging
import ServiceLifecycle
import Testing

@Suite("millrace api, as a process", .timeLimit(.minutes(15)))
struct APICommandTests {
  /// The error that each endpoint returns. The first line of `fault` is a fault of a simulator scenario.
  private static let refusals: [(fault: String, command: [String], status: Int32, says: [String])] = [
    (
      "", ["transaction", "2000000912345999"], 1,
      [
        "error: getTransactionInfo in Production and Sandbox: Apple answered 404, TransactionIdNotFoundError (4040010)",
        "\"Transaction id not found.\"", "no such transaction for this app and environment", "check the id and the app",
        "https://developer.apple.com/documentation/appstoreserverapi/get-transaction-info",
      ]
    ),
    (
      "endpoints: [getTransactionHistory], effect: status, status: 400, body: json, errorCode: 4000002, "
        + "errorMessage: Invalid request app identifier.",
      ["history", "1"], 78,
      [
        "Apple answered 400, InvalidAppIdentifierError (4000002), \"Invalid request app identifier.\"",
        "correct the app's settings here or in App Store Connect",
      ]
    ),
    (
      "endpoints: [getAllSubscriptionStatuses], effect: status, status: 500, body: json, errorCode: 5000001",
      ["statuses", "1"], 1, ["Apple answered 500, GeneralInternalRetryableError (5000001), \"", "; send it again\n"]
    ),
    (
      "endpoints: [getRefundHistory], effect: tooManyRequests, retryAfter: 90s", ["refunds", "1"], 1,
      ["Apple answered 429, RateLimitExceededError (4290000), \"", "; send it again at 20", " or later\n"]
    ),
    (
      "endpoints: [lookUpOrderId], effect: status, status: 502, body: html", ["order", "MK5"], 1,
      ["lookUpOrderId in Production: Apple answered 502; send it again\n"]
    ),
    (
      "endpoints: [getAppTransactionInfo], effect: unauthorized", ["app-transaction", "1"], 78,
      ["Apple rejected two tokens in a row (401); check in App Store Connect that key SIMULATOR1 exists"]
    ),
    (
      "", ["test-notification"], 78,
      [
        "ServerNotificationURLNotFoundError (4040007)", "no notification URL set in App Store Connect",
        "correct the app's settings here or in App Store Connect",
      ]
    ),
  ]

  @Test("an error contains Apple's name for it, Apple's message and what to do")
  func errors() async throws {
    let faults = Self.refusals.map(\.fault).filter { !$0.isEmpty }.map { "  - { \($0) }\n" }.joined()
    try await running("faults:\n" + faults) { configuration in
      for refusal in Self.refusals {
        let result = try await CommandProcess.run(["api"] + refusal.command + ["--config", configuration])
        #expect(result.status == refusal.status, "\(refusal.command): \(result.err)")
        #expect(result.out.isEmpty)
        for part in refusal.says { #expect(result.err.contains(part), "\(part) in \(result.err)") }
      }
    }
  }

  /// Runs a simulator in real time. `body` receives the path of a configuration that points to it.
  private func running(_ settings: String, _ body: @escaping @Sendable (String) async throws -> Void) async throws {
    let fixture = try Fixture()
    let app =
      "apps: [{ bundleId: \(fixture.app.bundleId), appAppleId: 1234567890, environments: [Production, Sandbox] }]\n"
    var scenario = try Scenario(yaml: app + settings)
    let key = scenario.addMadeKey()
    let (ports, listening) = AsyncStream<SimulatorPorts>.makeStream()
    let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let simulator = try Simulator(scenario, clock: .system, logger: quiet, onListening: { listening.yield($0) })
    let group = ServiceGroup(configuration: .init(services: [simulator], logger: quiet))
    try await withThrowingTaskGroup { tasks in
      tasks.addTask { try await group.run() }
      let found = try #require(await ports.first { _ in true })
      let file = { fixture.directory.appendingPathComponent($0) }
      try Data(simulator.signer.leaves.rootPEM.utf8).write(to: file("simulator.pem"))
      try Data(key.utf8).write(to: file("simulator.p8"))
      let made = Scenario.madeKey
      let configuration = """
        trust: { roots: ["\(file("simulator.pem").path)"] }
        apps:
          - bundleId: \(fixture.app.bundleId)
            appAppleId: 1234567890
            environments: [Production, Sandbox]
            api:
              issuerId: \(made.issuerId)
              keyId: \(made.keyId)
              privateKeyFile: "\(file("simulator.p8").path)"
        appStore:
          productionURL: "http://127.0.0.1:\(try #require(found.production))"
          sandboxURL: "http://127.0.0.1:\(try #require(found.sandbox))"
        """
      try Data(configuration.utf8).write(to: file("millrace.yaml"))
      try await body(file("millrace.yaml").path)
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }
}
