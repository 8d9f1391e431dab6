// A scenario, running: the world, its clock, the deliveries and the API.

public import AppStore
public import AppStoreSigning
public import Clocks
public import Logging
public import ServiceLifecycle
internal import Synchronization

/// A fake App Store.
public final class Simulator: Service {
  /// What it plays.
  public let scenario: Scenario
  /// Everything that is so.
  public let world: World
  /// Signs.
  public let signatory: Signatory
  /// The API without its ports.
  public let services: APIServices
  /// When the scenario began.
  public let origin: Timestamp

  private let clock: MillraceClock
  private let courier: Courier
  private let player: EventPlayer
  private let logger: Logger
  private let onListening: @Sendable (SimulatorPorts) async -> Void

  /// A simulator at the beginning of its scenario, which is now by its clock.
  ///
  /// - Parameters:
  ///   - chain: signs; nil makes one that is in use now.
  ///   - clock: time and timers; the scenario's own clock is for the caller to make.
  ///   - post: how notifications are posted; nil: over HTTP.
  ///   - onAttempt: told of every attempt to deliver when it is over; must not block.
  ///   - onListening: called once with the ports of the API.
  /// - Throws: when the scenario contradicts itself, a key cannot be read or the chain cannot be made.
  public init(
    _ scenario: Scenario, chain: SigningChain? = nil, clock: MillraceClock, post: Post? = nil,
    onAttempt: @escaping @Sendable (DeliveryAttempt) -> Void = { _ in }, logger: Logger,
    onListening: @escaping @Sendable (SimulatorPorts) async -> Void = { _ in }
  ) throws {
    // Not what the clock shows by now: the same scenario and seed are the same run.
    let origin = scenario.origin ?? clock.wallTime
    self.scenario = scenario
    self.origin = origin
    self.clock = clock
    self.logger = logger
    self.onListening = onListening
    world = World(
      apps: scenario.apps, seed: scenario.seed, behaviour: scenario.behaviour, limits: scenario.limits,
      beginning: origin)
    signatory = Signatory(
      RotatingLeaves(
        try chain ?? SigningChain.generate(at: origin), origin: origin, interval: scenario.leafInterval))
    for population in scenario.population {
      try world.withState { state throws(WorldError) in try state.settle(population, at: origin) }
    }
    var server = scenario.server
    for fault in scenario.faults { server.faults.append(try Fault(json: fault, origin: origin)) }
    let destinations = world.withState { scenario.destinations(in: $0) }
    services = try APIServices(
      world: world, signatory: signatory, settings: server, clock: clock, reachable: Set(destinations.keys))
    courier = Courier(
      world: world, signatory: signatory, destinations: destinations,
      settings: scenario.delivery(from: origin), clock: clock, post: post, onAttempt: onAttempt,
      logger: logger)
    player = EventPlayer(
      world: world,
      customerAsks: { [services] transaction, reason, now throws(WorldError) in
        try services.customerAsksForRefund(of: transaction, reason: reason, at: now)
      },
      massExtension: { [services] body, realm, now in services.teamAsksForMassExtension(body, realm: realm, at: now) })
    for event in scenario.events { player.schedule(event, origin: origin) }
  }

  /// Runs until the scenario's duration is over, or until shut down.
  public func run() async throws {
    let server = SimulatorServer(
      services,
      control: SimulatorControl(
        rootPEM: signatory.leaves.rootPEM, report: { [weak self] in self?.worldReport ?? JSONObject() },
        cause: { [weak self] in try self?.cause($0) ?? "" }), clock: clock, logger: logger, onListening: onListening)
    let end = scenario.duration.map { DurationEnd(duration: $0, clock: clock) }
    var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
      .init(service: server), .init(service: courier), .init(service: WorldRunner(world: world, clock: clock)),
    ]
    if let end {
      services.append(
        .init(service: end, successTerminationBehavior: .gracefullyShutdownGroup))
    }
    try await ServiceGroup(configuration: .init(services: services, logger: logger)).run()
  }

  /// Plans an event as a scenario file or a control request describes it, its time counting from now.
  ///
  /// - Returns: what was understood.
  /// - Throws: ``ScenarioError`` when it is no event, or names what the scenario does not have.
  @discardableResult
  public func cause(_ json: JSONObject) throws -> String {
    var fields = Fields(json, at: "")
    let event = try scenario.event(&fields)
    player.schedule(event, origin: clock.wallTime, isCaused: true)
    return event.name
  }

  /// What was sent, acknowledged and asked so far, and which rules were broken.
  public var report: SimulatorReport {
    SimulatorReport(
      origin: origin, now: clock.wallTime, deliveries: courier.tally, events: player.outcomes, api: services.report)
  }

  private var worldReport: JSONObject { report.world }
}

extension Scenario {
  fileprivate func destinations(in state: WorldState) -> [RealmID: Destination] {
    var destinations: [RealmID: Destination] = [:]
    for (key, destination) in self.destinations {
      guard let realm = state.realm(bundleId: key.bundleId, environment: key.environment) else { continue }
      destinations[realm] = destination
    }
    return destinations
  }

  fileprivate func delivery(from origin: Timestamp) -> DeliverySettings {
    var settings = delivery
    settings.pauses += deliveryPauses.map { .init(from: origin + $0.from, until: origin + $0.until) }
    return settings
  }

  /// Sends every notification of the apps to these URLs, whatever the scenario says; nil leaves a version's as it is. An
  /// app without a URL gets version 2, or version 1 where only that is given.
  public mutating func redirect(v2: String?, v1: String?) {
    for app in apps {
      for environment in app.environments {
        let key = DestinationKey(bundleId: app.bundleId, environment: environment)
        switch destinations[key]?.version {
        case .v1?: if let v1 { destinations[key]?.url = v1 }
        case .v2?: if let v2 { destinations[key]?.url = v2 }
        case nil:
          if let v2 {
            destinations[key] = Destination(url: v2)
          } else if let v1 {
            destinations[key] = Destination(url: v1, version: .v1)
          }
        }
      }
    }
  }
}

/// Returns when a scenario's time is over, and with it the simulator.
private struct DurationEnd: Service {
  let duration: Duration
  let clock: MillraceClock

  func run() async throws {
    let deadline = clock.now.advanced(by: duration)
    do {
      try await cancelWhenGracefulShutdown { try await clock.sleep(until: deadline) }
    } catch is CancellationError {
      return
    }
  }
}
