// `appstore-simulator run`: plays one scenario to its end, then prints the report.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import ArgumentParser
import MillraceTime
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Plays a scenario and reports notifications, acknowledgements, API calls and errors.",
    discussion: """
      Examples:
        appstore-simulator run scenarios/outage-mass-extension.yaml --target http://127.0.0.1:8080/v2 --port 9999 \\
          --write-root /tmp/root.pem --write-api-key /tmp/simulator.p8
      """)

  @OptionGroup var file: ScenarioFile
  @Option(help: "The URL for version 2 notifications, instead of the scenario's.") var target: String?
  @Option(help: "The URL for version 1 notifications, instead of the scenario's.") var targetV1: String?
  @Option(help: "The port of the production API, instead of the scenario's.") var port: Int?
  @Option(help: "The port of the sandbox API, instead of the scenario's.") var sandboxPort: Int?
  @Option(help: "The rate of time, instead of the scenario's.") var rate: Double?
  @Option(help: "The random seed, instead of the scenario's.") var seed: UInt64?
  @Option(help: "A certificate chain with keys in PEM, from --write-chain; by default a new one.") var chain: String?
  @Option(help: "Write the chain with its keys, for use by another run.") var writeChain: String?
  @Option(help: "Write the root certificate in PEM, for receivers to trust.") var writeRoot: String?
  @Option(help: "Create an API key for apps that have none, and write it in PEM.") var writeApiKey: String?
  @Option(help: "Write the `clock` setting that gives other processes the scenario's time, as YAML.")
  var writeClock: String?
  @Option(help: "Write the originalTransactionId of each subscription from before the scenario, one in a line.")
  var writeCustomers: String?
  @Option(help: "A file with the shared secret of version 1 bodies, for apps without one in the scenario.")
  var sharedSecret: String?
  @Option(help: "Write every delivery attempt as a line of JSON, including the body.") var writeSent: String?
  @Option(help: "Write the report as JSON.") var report: String?
  @Flag(help: "Log every failed delivery, not only those given up.") var verbose = false

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
    logger.info("to share this time, other processes need \(shared)")
    if let writeClock { try (shared + "\n").write(toFile: writeClock, isSecret: false) }
    let chain =
      try self.chain.map { try SigningChain(pem: String(contentsOfFile: $0, encoding: .utf8)) }
      ?? SigningChain.generate(at: origin)
    if let writeChain { try chain.pem.write(toFile: writeChain, isSecret: true) }
    if let writeRoot { try chain.rootPEM.write(toFile: writeRoot, isSecret: false) }

    let sent = try writeSent.map { try SentFile($0) }
    let simulator = try Simulator(
      scenario, chain: chain, clock: clock, onAttempt: { sent?.add($0) }, logger: logger)
    if let writeCustomers {
      let ids = simulator.world.withState { $0.subscriptions.keys.sorted() }
      try ids.map { "\($0)\n" }.joined().write(toFile: writeCustomers, isSecret: false)
    }
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
