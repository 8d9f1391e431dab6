// Serves the API over HTTP.

internal import AppStore
package import MillraceTime
package import Logging
internal import ServiceLifecycle

/// The ports of a ``SimulatorServer``.
public struct SimulatorPorts: Sendable, Hashable {
  /// The port of the production API; nil if it is not served.
  public var production: Int?
  /// The port of the sandbox API; nil if it is not served.
  public var sandbox: Int?
}

/// Serves the API. Production and sandbox have the same paths, so each has its own port.
package struct SimulatorServer: Service {
  private let services: APIServices
  private let control: ControlEndpoints
  private let logger: Logger
  private let onListening: @Sendable (SimulatorPorts) async -> Void

  /// Creates a server. It listens once it runs.
  ///
  /// - Parameters:
  ///   - control: the reports and events behind `/simulator/…`.
  ///   - onListening: called once with the ports, when the server accepts requests on all of them.
  package init(
    _ services: APIServices, control: SimulatorControl, clock: MillraceClock, logger: Logger,
    onListening: @escaping @Sendable (SimulatorPorts) async -> Void = { _ in }
  ) {
    self.services = services
    self.control = ControlEndpoints(services: services, control: control, now: { clock.wallTime })
    self.logger = logger
    self.onListening = onListening
  }

  /// Serves until shut down.
  package func run() async throws {
    let settings = services.settings
    let wanted: [(environment: AppStoreEnvironment, port: Int)] = [
      (AppStoreEnvironment.production, settings.productionPort), (.sandbox, settings.sandboxPort),
    ].compactMap { environment, port in port.map { (environment, $0) } }
    let ports = ListeningPorts(expected: wanted.count, onListening)
    let listeners = try wanted.map { environment, port in
      try APIListener(
        environment: environment, host: settings.host, port: port, respond: respond,
        now: { [clock = services.pipeline.clock] in clock.wallTime },
        onListening: { [logger] port in
          logger.info("serving the API", metadata: ["environment": "\(environment.rawValue)", "port": "\(port)"])
          await ports.listening(port, in: environment)
        }, logger: logger
      ).service()
    }
    try await ServiceGroup(configuration: .init(services: listeners, logger: logger)).run()
  }

  private func respond(_ request: IncomingRequest) async throws -> WireOutcome {
    guard request.path.hasPrefix(ControlEndpoints.prefix) else {
      return try await services.pipeline.respond(to: request)
    }
    return .answer(control.answer(request))
  }
}

/// Collects the ports of all listeners.
private actor ListeningPorts {
  private var ports = SimulatorPorts()
  private var missing: Int
  private let onListening: @Sendable (SimulatorPorts) async -> Void

  init(expected: Int, _ onListening: @escaping @Sendable (SimulatorPorts) async -> Void) {
    missing = expected
    self.onListening = onListening
  }

  func listening(_ port: Int, in environment: AppStoreEnvironment) async {
    if environment == .sandbox { ports.sandbox = port } else { ports.production = port }
    missing -= 1
    if missing == 0 { await onListening(ports) }
  }
}
