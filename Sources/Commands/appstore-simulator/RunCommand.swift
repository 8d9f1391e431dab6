// `appstore-simulator run`: one scenario until its end, then the report.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import ArgumentParser
import Clocks
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Plays a scenario and reports what was sent, acknowledged, asked and done wrong.",
    discussion: """
      Examples:
        appstore-simulator run scenarios/outage-mass-extension.yaml --target http://127.0.0.1:8080/v2 --port 9999 \\
          --write-root /tmp/root.pem --write-api-key /tmp/simulator.p8
      """)

  @OptionGroup var file: ScenarioFile
  @Option(help: "Where to post version 2 notifications, instead of the scenario's URLs.") var target: String?
  @Option(help: "Where to post version 1 notifications, instead of the scenario's URLs.") var targetV1: String?
  @Option(help: "The port of the production API, instead of the scenario's.") var port: Int?
  @Option(help: "The port of the sandbox API, instead of the scenario's.") var sandboxPort: Int?
  @Option(help: "How fast time passes, instead of the scenario's rate.") var rate: Double?
  @Option(help: "What the world begins with, instead of the scenario's seed.") var seed: UInt64?
  @Option(help: "A chain with its keys in PEM, from an earlier --write-chain; without it a new one.") var chain: String?
  @Option(help: "Write the chain with its keys, so that another run signs with it.") var writeChain: String?
  @Option(help: "Write the root certificate in PEM: what receivers are to trust.") var writeRoot: String?
  @Option(help: "Make a key for the API of apps that have none and write it in PEM.") var writeApiKey: String?
  @Option(help: "Write the `clock` that other processes need to live in the scenario's time, as YAML.")
  var writeClock: String?
  @Option(help: "A file with the shared secret that version 1 bodies carry, for apps whose scenario names none.")
  var sharedSecret: String?
  @Option(help: "Write every attempt to deliver as a line of JSON, the body included.") var writeSent: String?
  @Option(help: "Write the report as JSON.") var report: String?
  @Flag(help: "Log every delivery that failed, not only those that were given up.") var verbose = false

  func validate() throws {
    if let rate, !(rate > 0 && rate <= 1_000_000) {
      throw ValidationError("--rate must be above 0 and at most 1000000, not \(rate)")
    }
    for (name, port) in [("--port", port), ("--sandbox-port", sandboxPort)] {
      if let port, !(0...65_535).contains(port) {
        throw ValidationError("\(name) must be from 0 to 65535, not \(port)")
      }
    }
  }

  func run() async throws {
    var scenario = try file.read()
    scenario.redirect(v2: target, v1: targetV1)
    scenario.server.productionPort = port ?? scenario.server.productionPort
    scenario.server.sandboxPort = sandboxPort ?? scenario.server.sandboxPort
    scenario.rate = rate ?? scenario.rate
    if let seed { scenario.reseed(seed) }
    if let sharedSecret { scenario.share(try ScenarioFile.text(of: sharedSecret)) }
    if let writeApiKey { try scenario.addMadeKey().write(toFile: writeApiKey, isSecret: true) }

    LoggingSystem.bootstrap(StreamLogHandler.standardError)
    var logger = Logger(label: "appstore-simulator")
    logger.logLevel = verbose ? .debug : .info
    let start = MillraceClock.system.wallTime
    let origin = scenario.origin ?? start
    let clock = MillraceClock(origin: origin, rate: scenario.rate, start: start)
    let shared =
      "clock: { origin: \"\(origin.rfc3339)\", rate: \(scenario.rate), start: \"\(start.rfc3339)\" }"
    logger.info("processes that are to live in this time need \(shared)")
    if let writeClock { try (shared + "\n").write(toFile: writeClock, isSecret: false) }
    let chain =
      try self.chain.map { try SigningChain(pem: String(contentsOfFile: $0, encoding: .utf8)) }
      ?? SigningChain.generate(at: origin)
    if let writeChain { try chain.pem.write(toFile: writeChain, isSecret: true) }
    if let writeRoot { try chain.rootPEM.write(toFile: writeRoot, isSecret: false) }

    let sent = try writeSent.map { try SentFile($0) }
    let simulator = try Simulator(
      scenario, chain: chain, clock: clock, onAttempt: { sent?.add($0) }, logger: logger)
    var group = ServiceGroupConfiguration(
      services: [
        .init(
          service: simulator, successTerminationBehavior: .gracefullyShutdownGroup)
      ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    group.maximumGracefulShutdownDuration = .seconds(20)
    try await ServiceGroup(configuration: group).run()
    try sent?.close()

    let result = simulator.report
    print(result.text, terminator: "")
    if let report {
      try (String(decoding: result.json.serialized(), as: UTF8.self) + "\n").write(toFile: report, isSecret: false)
    }
  }
}
