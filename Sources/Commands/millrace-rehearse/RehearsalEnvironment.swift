// The environment of a run: the simulated App Store in this process, so its state can be inspected; a cluster and the
// ingress in their own processes; and one configuration for all.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import MillraceTime
import Foundation
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
import Operations
import Processes
import Synchronization

struct RehearsalEnvironment: Sendable {
  let settings: Settings
  let directory: String
  let simulator: Simulator
  let clock: MillraceClock
  let log: KafkaLog
  /// The client configuration of this program.
  let kafka: KafkaConfiguration
  let output: Output
  /// The times at which the ingress first accepted each notification, by `notificationUUID`.
  let taken: Taken
  let ingress: String
  /// The prefix of every topic name.
  let prefix: String
  let environment: [String: String]
  private let cluster: EmbeddedClusterProcess?
  private let ingressProcess: Child

  var path: String { "\(directory)/millrace.yaml" }

  /// The notifications that the ingress accepted and the times, in the scenario's time.
  final class Taken: Sendable {
    fileprivate struct State {
      var moments: [String: Timestamp] = [:]
      var failed: [DeliveryAttempt] = []
      var failures = 0
    }

    private let state = Mutex(State())

    /// The number of failed attempts. Apple's next attempt is an hour later, after the end of the run.
    var failures: Int { state.withLock { $0.failures } }

    func add(_ attempt: DeliveryAttempt) {
      state.withLock { state in
        if attempt.outcome?.result == .success {
          state.note(attempt.notificationUUID, attempt.date)
        } else if !attempt.isDuplicate {
          state.failed.append(attempt)
          state.failures += 1
        }
      }
    }

    /// Posts failed notifications again.
    func tryAgain(_ stage: RehearsalEnvironment) async throws {
      let failed = state.withLock { state in
        defer { state.failed = [] }
        return state.failed
      }
      for attempt in failed {
        let status = try await Web.post(attempt.body, to: attempt.url)
        guard status == 200 else { throw RunError("the ingress answered \(status) to a genuine notification") }
        state.withLock { $0.note(attempt.notificationUUID, stage.clock.wallTime) }
      }
    }

    subscript(uuid: String) -> Timestamp? { state.withLock { $0.moments[uuid] } }
  }

  /// Runs `body` in a new environment and ends all its processes afterwards.
  static func run<Result: Sendable>(
    _ settings: Settings, name: String, output: Output,
    _ body: @escaping @Sendable (RehearsalEnvironment) async throws -> Result
  ) async throws -> Result {
    let directory = "\(settings.directory)/\(name)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let ports = try FreePorts.find(2)
    let start = MillraceClock.system.wallTime
    let prefix = settings.bootstrapServers == nil ? "" : "rehearse-\(start.millisecondsSince1970)-\(name)."
    var scenario = try Scenario(yaml: Self.scenario(settings, ingress: ports[0]))
    scenario.reseed(settings.seed)
    // Requests in flight during a 429, and the time until other processes learn of it, are in real time.
    scenario.server.callerGrace = settings.lasting(.seconds(3))
    scenario.server.journalCapacity = 200_000
    let secret = "rehearsal-\(settings.seed)"
    scenario.share(secret)
    let key = scenario.addMadeKey()
    guard let origin = scenario.origin else { throw RunError("the scenario has no origin") }
    let clock = MillraceClock(origin: origin, rate: settings.rate, start: start)
    let taken = Taken()
    let (told, listening) = AsyncStream.makeStream(of: Int.self)
    var logger = Logger(label: "simulator")
    logger.logLevel = .critical
    let simulator = try Simulator(
      scenario, chain: try SigningChain.generate(at: origin), clock: clock, onAttempt: { taken.add($0) },
      logger: logger, onListening: { listening.yield($0.production ?? 0) })
    func write(_ text: String, _ file: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/\(file)"), options: .atomic)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(directory)/\(file)")
    }
    try write(simulator.signer.leaves.rootPEM, "root.pem")
    try write(key, "simulator.p8")
    try write(secret, "shared-secret")
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask {
        try await simulator.run()
        return nil
      }
      group.addTask {
        guard let api = await told.first(where: { _ in true }) else { throw RunError("the simulator does not listen") }
        let text = Self.yaml(
          settings, directory, prefix: prefix, start: start, origin: origin, api: api, ingress: ports[0])
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/millrace.yaml"))
        let stage = try await RehearsalEnvironment(
          settings, directory, prefix, simulator, clock, taken, output, ingress: ports[0], admin: ports[1])
        defer { stage.end() }
        return try await body(stage)
      }
      defer { group.cancelAll() }
      while let end = try await group.next() {
        if let end { return end }
      }
      throw RunError("the simulator has ended")
    }
  }

  private init(
    _ settings: Settings, _ directory: String, _ prefix: String, _ simulator: Simulator, _ clock: MillraceClock,
    _ taken: Taken, _ output: Output, ingress: Int, admin: Int
  ) async throws {
    (self.settings, self.directory, self.prefix) = (settings, directory, prefix)
    (self.simulator, self.clock) = (simulator, clock)
    (self.taken, self.output) = (taken, output)
    self.ingress = "http://127.0.0.1:\(ingress)"
    let path = "\(directory)/millrace.yaml"
    let cluster: EmbeddedClusterProcess?
    if let servers = settings.bootstrapServers {
      (cluster, environment) = (nil, EmbeddedClusterProcess.environment(servers))
    } else {
      let own = try await EmbeddedClusterProcess(
        settings.program("millrace"), configuration: path, directory: directory, before: settings.deadline)
      (cluster, environment) = (own, own.environment)
    }
    var process: Child?
    do {
      let configuration = try LoadedConfiguration.load(path: path, environment: environment).configuration
      if cluster == nil {
        try await Self.millrace(["topics", "apply", "--yes"], settings, directory, environment, log: "topics")
      }
      kafka = try configuration.kafka.client(clientID: "millrace-rehearse").eager
      log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
      let ingress = try Child(
        settings.program("millrace-ingress"), ["--config", path],
        environment: environment.merging(["MILLRACE_ADMIN_PORT": "\(admin)"]) { $1 },
        log: "\(directory)/ingress.log")
      process = ingress
      try await Web.waitUntilReady("http://127.0.0.1:\(admin)/readyz", of: ingress, before: settings.deadline)
      (self.cluster, ingressProcess) = (cluster, ingress)
    } catch {
      process?.send(SIGKILL)
      cluster?.end()
      throw error
    }
  }

  private func end() {
    ingressProcess.send(SIGKILL)
    cluster?.end()
  }

  /// Runs the command line and waits for its end.
  func millrace(_ arguments: [String], log name: String) async throws {
    try await Self.millrace(arguments, settings, directory, environment, log: name)
  }

  private static func millrace(
    _ arguments: [String], _ settings: Settings, _ directory: String, _ environment: [String: String], log name: String
  ) async throws {
    let child = try Child(
      settings.program("millrace"), arguments + ["--config", "\(directory)/millrace.yaml"], environment: environment,
      log: "\(directory)/\(name).log")
    let end = await withTaskCancellationHandler {
      await child.wait()
    } onCancel: {
      child.send(SIGKILL)
    }
    guard end == .exit(0) else {
      throw RunError("millrace \(arguments.joined(separator: " ")) ended with \(end); see \(child.log)")
    }
  }

  /// Waits until a condition holds, up to the time limit of the run.
  func wait(for what: String, until holds: @Sendable () async throws -> Bool) async throws {
    while try await !holds() {
      guard ContinuousClock.now < settings.deadline else {
        throw RunError("time limit reached, waiting for \(what); logs in \(directory)")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}

extension RehearsalEnvironment.Taken.State {
  fileprivate mutating func note(_ uuid: String, _ time: Timestamp) {
    if moments[uuid] == nil { moments[uuid] = time }
  }
}
