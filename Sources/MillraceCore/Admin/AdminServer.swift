internal import HTTPTypes
internal import Hummingbird
package import Logging
internal import NIOCore
internal import ServiceLifecycle

/// Serves `/metrics`, `/livez` and `/readyz` on the admin port of every process.
package struct AdminServer: Service {
  private let settings: AdminSettings
  private let registry: PrometheusRegistry
  private let heartbeat: Heartbeat
  private let readiness: ReadinessBoard
  private let logger: Logger
  private let onListening: @Sendable (Int) async -> Void

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - settings: The address and port to listen on.
  ///   - onListening: Called with the port once the server accepts connections. With port 0 the system chose it.
  package init(
    _ settings: AdminSettings, registry: PrometheusRegistry, heartbeat: Heartbeat, readiness: ReadinessBoard,
    logger: Logger, onListening: @escaping @Sendable (Int) async -> Void = { _ in }
  ) {
    self.settings = settings
    self.registry = registry
    self.heartbeat = heartbeat
    self.readiness = readiness
    self.logger = logger
    self.onListening = onListening
  }

  /// Serves until the process shuts down.
  package func run() async throws {
    let logger = logger
    let onListening = onListening
    var quiet = logger
    quiet.logLevel = max(.notice, logger.logLevel)
    let application = Application(
      router: Self.router(registry: registry, heartbeat: heartbeat, readiness: readiness),
      configuration: ApplicationConfiguration(address: .hostname(settings.host, port: settings.port)),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? 0
        logger.info("admin listening", metadata: ["port": "\(port)"])
        await onListening(port)
      },
      logger: quiet)
    do {
      try await application.run()
    } catch let error as IOError {
      throw MillraceError(listening: error, host: settings.host, port: settings.port, key: "admin.port")
    }
  }

  static func router(
    registry: PrometheusRegistry, heartbeat: Heartbeat, readiness: ReadinessBoard
  ) -> Router<BasicRequestContext> {
    let router = Router()
    router.get("metrics") { _, _ in
      answer(.ok, PrometheusRegistry.contentType, Array(registry.render().utf8))
    }
    router.get("livez") { _, _ in
      health(heartbeat.report(), good: "alive", bad: "stuck")
    }
    router.get("readyz") { _, _ in
      health(await readiness.report(), good: "ready", bad: "not ready")
    }
    return router
  }

  private static func health(_ report: HealthReport, good: String, bad: String) -> Response {
    answer(
      report.isHealthy ? .ok : .serviceUnavailable, "application/json", report.json(good: good, bad: bad))
  }

  private static func answer(_ status: HTTPResponse.Status, _ type: String, _ body: [UInt8]) -> Response {
    var headers = HTTPFields()
    headers[.contentType] = type
    headers[.cacheControl] = "no-store"
    return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
  }
}
