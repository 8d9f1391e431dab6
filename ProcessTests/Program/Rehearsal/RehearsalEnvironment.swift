// The environment of a run: the simulated App Store in this process, so its state can be inspected; a cluster and the
// ingress in their own processes; and one configuration for all.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import Logging
import MillraceTime
import ScenarioRig

struct RehearsalEnvironment: Sendable {
  let settings: RehearsalSettings
  let deployment: Deployment
  let simulator: Simulator
  let clock: MillraceClock
  let accepted: AcceptedNotifications
  /// The URL of the ingress.
  let ingress: String

  /// Runs `body` in a new environment and ends all its processes afterwards.
  static func run<Result: Sendable>(
    _ settings: RehearsalSettings, _ rig: Rig, name: String,
    _ body: @escaping @Sendable (RehearsalEnvironment) async throws -> Result
  ) async throws -> Result {
    let directory = try rig.makeDirectory(name)
    let ports = try FreePorts.find(2)
    let start = MillraceClock.system.wallTime
    let prefix =
      rig.bootstrapServers == nil ? "" : "\(rig.prefix)rehearse-\(start.millisecondsSince1970)-\(name)."
    var scenario = try Scenario(yaml: Self.scenario(settings, ingress: ports[0]))
    scenario.reseed(rig.seed)
    // Requests in flight during a 429, and the time until other processes learn of it, are in real time.
    scenario.server.callerGrace = settings.lasting(.seconds(3))
    scenario.server.journalCapacity = 200_000
    let secret = "rehearsal-\(rig.seed)"
    scenario.share(secret)
    let key = scenario.addMadeKey()
    guard let origin = scenario.origin else { throw RunError("the scenario has no origin") }
    let clock = MillraceClock(origin: origin, rate: settings.rate, start: start)
    let accepted = AcceptedNotifications()
    let (told, listening) = AsyncStream.makeStream(of: Int.self)
    var logger = Logger(label: "simulator")
    logger.logLevel = .critical
    let simulator = try Simulator(
      scenario, chain: try SigningChain.generate(at: origin), clock: clock, onAttempt: { accepted.add($0) },
      logger: logger, onListening: { listening.yield($0.production ?? 0) })
    try writePrivately(simulator.signer.leaves.rootPEM, to: "\(directory)/root.pem")
    try writePrivately(key, to: "\(directory)/simulator.p8")
    try writePrivately(secret, to: "\(directory)/shared-secret")
    return try await ScenarioRig.run {
      guard let api = await told.first(where: { _ in true }) else { throw RunError("the simulator does not listen") }
      let deployment = try await Deployment(
        rig, in: directory, prefix: prefix, lanes: settings.lanes,
        settings: Self.yaml(settings, directory, start: start, origin: origin, api: api))
      defer { deployment.end() }
      let ingress = try await deployment.startIngress(port: ports[0], admin: ports[1])
      defer { ingress.send(.kill) }
      return try await body(
        RehearsalEnvironment(
          settings: settings, deployment: deployment, simulator: simulator, clock: clock, accepted: accepted,
          ingress: "http://127.0.0.1:\(ports[0])"))
    } beside: {
      try await simulator.run()
    }
  }
}
