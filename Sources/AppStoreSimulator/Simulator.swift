// Runs a scenario: the world, its clock, the deliveries and the API.

public import AppStore
package import AppStoreSigning
public import MillraceTime
public import Logging
public import ServiceLifecycle
internal import Synchronization

/// A simulated App Store.
public final class Simulator: Service {
  /// The scenario.
  package let scenario: Scenario
  /// The apps, customers and purchases.
  package let world: World
  /// Signs notifications and API responses.
  package let signer: NotificationSigner
  /// The API, independent of its HTTP listeners.
  package let services: APIServices
  /// The time at which the scenario began.
  package let origin: Timestamp

  private let clock: MillraceClock
  private let scheduler: DeliveryScheduler
  private let player: EventPlayer
  private let logger: Logger
  private let onListening: @Sendable (SimulatorPorts) async -> Void

  /// Creates a simulator at the beginning of its scenario, which is the clock's current time unless the scenario sets
  /// one. It posts notifications over HTTP and signs with a chain of its own.
  ///
  /// - Parameters:
  ///   - clock: provides time and timers. The caller creates the scenario's own clock.
  ///   - onListening: called once with the ports of the API.
  /// - Throws: an error if the scenario contradicts itself, a key cannot be read or the chain cannot be generated.
  public convenience init(
    _ scenario: Scenario, clock: MillraceClock, logger: Logger,
    onListening: @escaping @Sendable (SimulatorPorts) async -> Void
  ) throws {
    try self.init(scenario, chain: nil, clock: clock, logger: logger, onListening: onListening)
  }

  /// Creates a simulator with a given chain.
  ///
  /// - Parameters:
  ///   - chain: the chain that signs; nil to generate one that is valid now.
  ///   - post: posts notifications; nil to post over HTTP.
  ///   - onAttempt: called after every delivery attempt; must not block.
  package init(
    _ scenario: Scenario, chain: SigningChain? = nil, clock: MillraceClock, post: Post? = nil,
    onAttempt: @escaping @Sendable (DeliveryAttempt) -> Void = { _ in }, logger: Logger,
    onListening: @escaping @Sendable (SimulatorPorts) async -> Void = { _ in }
  ) throws {
    // Not the current time: the same scenario and seed must produce the same run.
    let origin = scenario.origin ?? clock.wallTime
    self.scenario = scenario
    self.origin = origin
    self.clock = clock
    self.logger = logger
    self.onListening = onListening
    world = World(
      apps: scenario.apps, seed: scenario.seed, behaviour: scenario.behaviour, limits: scenario.limits,
      beginning: origin)
    signer = NotificationSigner(
      RotatingLeaves(
        try chain ?? SigningChain.generate(at: origin), origin: origin, interval: scenario.leafInterval))
    for population in scenario.population {
      try world.withState { state throws(WorldError) in try state.settle(population, at: origin) }
    }
    var server = scenario.server
    for fault in scenario.faults { server.faults.append(try Fault(json: fault, origin: origin)) }
    let destinations = world.withState { scenario.destinations(in: $0) }
    services = try APIServices(
      world: world, signer: signer, settings: server, clock: clock, reachable: Set(destinations.keys))
    scheduler = DeliveryScheduler(
      world: world, signer: signer, destinations: destinations,
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
        rootPEM: signer.leaves.rootPEM, report: { [weak self] in self?.worldReport ?? JSONObject() },
        cause: { [weak self] in try self?.cause($0) ?? "" }), clock: clock, logger: logger, onListening: onListening)
    let end = scenario.duration.map { DurationEnd(duration: $0, clock: clock) }
    var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
      .init(service: server), .init(service: scheduler), .init(service: WorldRunner(world: world, clock: clock)),
    ]
    if let end {
      services.append(
        .init(service: end, successTerminationBehavior: .gracefullyShutdownGroup))
    }
    try await ServiceGroup(configuration: .init(services: services, logger: logger)).run()
  }

  /// Schedules an event, described as in a scenario file or control request, relative to the current time.
  ///
  /// - Returns: the name of the action.
  /// - Throws: ``ScenarioError`` if the event is invalid or names something the scenario does not have.
  @discardableResult
  public func cause(_ json: JSONObject) throws -> String {
    var fields = Fields(json, at: "")
    let event = try scenario.event(&fields)
    player.schedule(event, origin: clock.wallTime, isCaused: true)
    return event.name
  }

  /// The notifications sent and acknowledged, the requests received and the rules broken so far.
  public var report: SimulatorReport {
    SimulatorReport(
      origin: origin, now: clock.wallTime, deliveries: scheduler.tally, events: player.outcomes, api: services.report)
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

  /// Sends all notifications to these URLs instead of the scenario's. If a URL is nil, that version keeps its
  /// destination. An app without a destination gets version 2, or version 1 if only that URL is given.
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

/// Ends the simulator when the scenario's duration is over.
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
