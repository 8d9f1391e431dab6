// The ingress put together: HTTP in front, the producer behind, stopped in that order.

public import Clocks
internal import HummingbirdCore
internal import Hummingbird
internal import HummingbirdTLS
public import AppStoreSignature
public import Kafka
public import Logging
public import Metrics
public import Millrace
internal import NIOCore
public import ServiceLifecycle

/// The endpoint that Apple posts to.
///
/// On a graceful shutdown it stops accepting, answers what is in flight, and waits for Kafka's acknowledgements; what
/// was answered 200 is in Kafka.
public struct IngressServer: Service {
  private let configuration: MillraceConfiguration
  private let times: IngressTimes
  private let responder: IngressResponder
  let admission: NotificationAdmission
  private let producer: KafkaProducer
  let certificate: ServerCertificate?
  private let topics: [String]
  private let admin: KafkaAdmin
  private let metrics: IngressMetrics
  private let idleTimeout: Duration
  private let logger: Logger
  private let onListening: @Sendable (Int) async -> Void

  /// Puts an ingress together. Reads certificates, roots and secrets now; connects to nothing yet.
  /// - Parameters:
  ///   - kafka: the cluster, as ``KafkaSettings/client(clientID:bootstrapServers:)`` makes it.
  ///   - revocation: asks whether a chain was revoked; nil asks nobody.
  ///   - onListening: called with the port once requests are accepted.
  /// - Throws: ``MillraceError`` for a configuration that cannot work, ``KafkaError`` for a property that librdkafka
  ///   does not take.
  public init(
    _ configuration: MillraceConfiguration, catalog: TopicCatalog, kafka: KafkaConfiguration, clock: MillraceClock,
    revocation: (any RevocationChecking)? = nil, metricsFactory: any MetricsFactory = MetricsSystem.factory,
    logger: Logger, onListening: @escaping @Sendable (Int) async -> Void = { _ in }
  ) throws {
    try self.init(
      configuration, catalog: catalog, kafka: kafka, clock: clock, revocation: revocation,
      metricsFactory: metricsFactory, logger: logger, onListening: onListening,
      details: Details(configuration.ingress))
  }

  /// What has no key; tests need it otherwise.
  struct Details {
    /// How often the certificate's files are looked at.
    var certificateRefresh = ServerCertificate.refreshInterval
    /// How long a connection may be idle; longer than load balancers reuse one.
    var idleTimeout = Duration.seconds(75)
    /// How many bytes of bodies are held at one time.
    var bodyBudget: Int

    init(_ settings: IngressSettings) { bodyBudget = BodyBudget.bytes(settings) }
  }

  /// The same, with these details.
  init(
    _ configuration: MillraceConfiguration, catalog: TopicCatalog, kafka: KafkaConfiguration, clock: MillraceClock,
    revocation: (any RevocationChecking)?, metricsFactory: any MetricsFactory, logger: Logger,
    onListening: @escaping @Sendable (Int) async -> Void, details: Details
  ) throws {
    let settings = configuration.ingress
    let metrics = IngressMetrics(factory: metricsFactory, apps: configuration.apps)
    guard let quarantineTopic = catalog.topic(named: QuarantineRecord.topic)?.topic else {
      throw MillraceError(
        .topics, "no file declares \(QuarantineRecord.topic)", at: configuration.topics.directory,
        remedy: "restore the file that came with this release")
    }
    times = try IngressTimes(configuration)
    producer = try KafkaProducer(
      kafka, sendTimeout: times.kafka, observer: .reporting(client: "ingress", to: logger, metrics: metricsFactory))
    certificate = try settings.tls.files.map {
      try ServerCertificate(
        certificate: $0.certificate, key: $0.key, refreshInterval: details.certificateRefresh, logger: logger)
    }
    admission = try NotificationAdmission(configuration, clock: clock, revocation: revocation)
    let intake = NotificationIntake(
      admission: admission,
      router: catalog.router, sink: producer,
      quarantine: Quarantine(
        topic: quarantineTopic, perMinute: settings.quarantinePerMinute, sink: producer, clock: clock),
      clock: clock, metrics: metrics, logger: logger)
    responder = IngressResponder(
      intake: intake, limits: settings.maxBodyBytes, retryAfter: max(1, settings.retryAfter.components.seconds),
      places: InFlightLimit(settings.maxRequestsInFlight), bodies: BodyBudget(bytes: details.bodyBudget),
      clock: clock, metrics: metrics)
    topics = Self.topics(of: catalog).map(\.topic)
    admin = KafkaAdmin(kafka)
    self.configuration = configuration
    self.metrics = metrics
    idleTimeout = details.idleTimeout
    self.logger = logger
    self.onListening = onListening
  }

  /// Serves until shut down.
  public func run() async throws {
    let preparation = Task {
      do {
        // Asked of the administration first: preparing a topic that is missing could make the broker create it.
        let present = try await admin.describeTopics(topics, withSettings: false, timeout: times.kafka)
        try await producer.prepare(present.map(\.name), timeout: times.kafka)
      } catch {
        logger.notice(
          "Kafka was not there at the start; requests are answered 503 until it is", metadata: ["error": "\(error)"])
      }
    }
    defer { preparation.cancel() }
    // Stopped last to first: the producer outlives the last request that needs it.
    var services: [any Service] = [ProducerService(producer)]
    if let certificate { services.append(certificate.reloader) }
    services.append(try application)
    do {
      try await ServiceGroup(configuration: .init(services: services, logger: logger)).run()
    } catch let error as IOError {
      let settings = configuration.ingress
      throw MillraceError(listening: error, host: settings.host, port: settings.port, key: "ingress.port")
    }
  }

  private var application: Application<IngressResponder> {
    get throws {
      let settings = configuration.ingress
      let limits = ConnectionGuard.Limits(
        head: TimeAmount(settings.headerTimeout), body: TimeAmount(times.body), idle: TimeAmount(idleTimeout))
      let metrics = metrics
      let plain = HTTPServerBuilder.http1(
        configuration: .init(
          additionalChannelHandlers: [
            ConnectionGuard(
              limits: limits, onSlowClient: { metrics.slowClient($0) },
              onMalformedHead: { metrics.refuse(nil, .malformedHead) })
          ],
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: settings.maxHeaderBytes, maxHeaderListSize: settings.maxHeaderBytes,
            maxHeaderFieldCount: 100)))
      return Application(
        responder: responder,
        server: try certificate.map { try .tls(plain, tlsConfiguration: $0.configuration) } ?? plain,
        configuration: .init(
          address: .hostname(settings.host, port: settings.port),
          availableConnectionsDelegate: .maximum(settings.maxConnections, logger: logger)),
        onServerRunning: { [onListening, logger] channel in
          let port = channel.localAddress?.port ?? settings.port
          logger.info(
            "listening for notifications",
            metadata: ["port": "\(port)", "tls": "\(settings.tls.files != nil)"])
          await onListening(port)
        },
        logger: logger)
    }
  }
}

extension IngressServer {
  /// The topics that the ingress writes, for the readiness check.
  public static func topics(of catalog: TopicCatalog) -> [TopicDefinition] {
    catalog.notificationTopics + [catalog.topic(named: QuarantineRecord.topic)].compactMap { $0 }
  }

  /// States the help texts of the ingress's metrics.
  public static func describeMetrics(in registry: PrometheusRegistry) {
    for (name, help) in IngressMetrics.helpTexts + KafkaMetrics.helpTexts { registry.describe(name, help) }
  }
}
