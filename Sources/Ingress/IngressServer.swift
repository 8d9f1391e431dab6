// Combines the HTTP server and the Kafka producer. On shutdown the HTTP server stops first.

package import MillraceTime
internal import AppStore
internal import HummingbirdCore
internal import Hummingbird
internal import HummingbirdTLS
package import AppStoreSignature
package import KafkaClient
package import Logging
package import Metrics
package import MillraceCore
package import MillraceRecords
internal import NIOCore
internal import ServiceLifecycle
package import Tracing

/// The endpoint that Apple posts to.
///
/// On graceful shutdown it stops accepting connections, finishes the requests in flight and waits for Kafka's
/// acknowledgements. Every notification answered 200 is in Kafka.
package struct IngressServer: Service {
  private let configuration: MillraceConfiguration
  private let times: IngressTimes
  private let responder: IngressResponder
  let admission: NotificationAdmission
  let producer: KafkaProducer
  let certificate: ServerCertificate?
  private let sends = SendHealth()
  private let refusals: RepeatedLog
  private let topics: [String]
  private let admin: KafkaAdmin
  private let metrics: IngressMetrics
  /// Nil if no topic file declares the topic of the reports.
  private let reporter: IngressReporter?
  private let idleTimeout: Duration
  private let logger: Logger
  private let onListening: @Sendable (Int) async -> Void

  /// Creates an ingress. Reads certificates, roots and secrets, but does not connect to Kafka yet.
  /// - Parameters:
  ///   - kafka: The client configuration from ``KafkaSettings/client(clientID:bootstrapServers:)``.
  ///   - revocation: Checks whether a certificate chain was revoked; nil skips the check.
  ///   - tracer: The tracer of the requests' spans; nil: none.
  ///   - onListening: Called with the port when the server accepts requests.
  /// - Throws: ``MillraceError`` if the configuration is invalid; ``KafkaError`` if librdkafka rejects a property.
  package init(
    _ configuration: MillraceConfiguration, catalog: TopicCatalog, kafka: KafkaConfiguration, clock: MillraceClock,
    revocation: (any RevocationChecking)? = nil, metricsFactory: any MetricsFactory = MetricsSystem.factory,
    tracer: (any Tracer)? = nil, logger: Logger, onListening: @escaping @Sendable (Int) async -> Void = { _ in }
  ) throws {
    try self.init(
      configuration, catalog: catalog, kafka: kafka, clock: clock, revocation: revocation,
      metricsFactory: metricsFactory, tracer: tracer, logger: logger, onListening: onListening,
      details: Details(configuration.ingress))
  }

  /// Settings without a configuration key, which tests override.
  struct Details {
    /// How often the certificate's files are checked for changes.
    var certificateRefresh = ServerCertificate.refreshInterval
    /// The idle timeout of connections. Load balancers stop reusing a connection before it.
    var idleTimeout = Duration.seconds(75)
    /// The largest number of bytes of bodies to hold at a time.
    var bodyBudget: Int

    init(_ settings: IngressSettings) { bodyBudget = BodyBudget.bytes(settings) }
  }

  /// Creates an ingress with the given details.
  init(
    _ configuration: MillraceConfiguration, catalog: TopicCatalog, kafka: KafkaConfiguration, clock: MillraceClock,
    revocation: (any RevocationChecking)?, metricsFactory: any MetricsFactory, tracer: (any Tracer)? = nil,
    logger: Logger, onListening: @escaping @Sendable (Int) async -> Void, details: Details
  ) throws {
    let settings = configuration.ingress
    let metrics = IngressMetrics(factory: metricsFactory, apps: configuration.apps)
    guard let quarantineTopic = catalog.topic(named: QuarantineRecord.topic)?.topic else {
      throw MillraceError(
        .topics, "no topic file declares \(QuarantineRecord.topic)", at: configuration.topics.directory,
        remedy: "restore the file from this release")
    }
    times = try IngressTimes(configuration)
    producer = try KafkaProducer(
      Self.client(kafka, queueBytes: Self.queuedBodies * details.bodyBudget), sendTimeout: times.kafka,
      deliveryTimeout: times.delivery,
      observer: .reporting(client: "ingress", to: logger, metrics: metricsFactory))
    certificate = try settings.tls.files.map {
      try ServerCertificate(
        certificate: $0.certificate, key: $0.key, refreshInterval: details.certificateRefresh, logger: logger)
    }
    let now = MillraceClock.system.wallTime
    if let end = certificate?.end.map({ Timestamp(millisecondsSince1970: Int64($0) * 1_000) }),
      end - now < CertificateExpiry.notice
    {
      logger.warning(
        end <= now ? "the certificate of the endpoint has expired" : "the certificate of the endpoint expires soon",
        metadata: ["file": "\(settings.tls.certificate ?? "")", "end": "\(end.rfc3339)"])
    }
    admission = try NotificationAdmission(configuration, clock: clock, revocation: revocation)
    // In real time, which the log shows.
    refusals = RepeatedLog(logger, clock: .system, interval: .seconds(10), counting: "refusals")
    let intake = NotificationIntake(
      admission: admission,
      router: catalog.router, sink: producer,
      quarantine: Quarantine(
        topic: quarantineTopic, perMinute: settings.quarantinePerMinute, sink: producer, clock: clock),
      clock: clock, metrics: metrics, sends: sends, refusals: refusals)
    responder = IngressResponder(
      intake: intake, heads: HeadCheck(limits: settings.maxBodyBytes, acceptsV1: admission.acceptsV1),
      retryAfter: max(1, settings.retryAfter.components.seconds),
      places: InFlightLimit(settings.maxRequestsInFlight), bodies: BodyBudget(bytes: details.bodyBudget),
      times: times, metrics: metrics, tracer: tracer)
    topics = Self.topics(of: catalog).map(\.topic)
    admin = KafkaAdmin(kafka)
    self.configuration = configuration
    self.metrics = metrics
    reporter = catalog.topic(named: ProcessReport.ingressTopic).map { [times, admin] declared in
      // A name for the time of the process. The next one has another, and this one's report ends.
      let instance = String(UInt64.random(in: .min ... .max), radix: 36)
      return IngressReporter(
        topic: declared.topic, kafka: kafka, admin: admin, timeout: times.kafka, logger: logger
      ) { [refusals = metrics.refusals] in
        var report = ProcessReport(ProcessReport.ingress, instance: instance, version: MillraceVersion.current)
        (report.startedAt, report.refusals) = (now, refusals.all)
        return report
      }
    }
    idleTimeout = details.idleTimeout
    self.logger = logger
    self.onListening = onListening
  }

  /// The size of the producer's queue as a multiple of the body budget. A record stays in the queue after its request
  /// was answered 503 (``IngressTimes/delivery``).
  private static let queuedBodies = 2

  /// Adds the producer's default properties. Configured properties take precedence.
  private static func client(_ kafka: KafkaConfiguration, queueBytes: Int) -> KafkaConfiguration {
    var kafka = kafka
    kafka.properties.merge([
      // Refresh every second, because requests cannot wait long for a new partition leader and librdkafka backs off
      // after errors.
      "topic.metadata.refresh.interval.ms": "1000",
      // The default is three refresh intervals. librdkafka treats a topic with older metadata as unknown.
      "metadata.max.age.ms": "180000",
      "queue.buffering.max.kbytes": String(queueBytes >> 10),
      // Records of a busy ingress share requests, which saves time of the brokers. Apple waits much longer.
      "linger.ms": "5",
    ]) { given, _ in given }
    return kafka
  }

  /// The readiness check for writes to Kafka.
  package var readiness: ReadinessCheck { sends.check }

  /// Serves until graceful shutdown.
  package func run() async throws {
    let preparation = Task {
      do {
        // Look up the topics first, because preparing a missing topic could make the broker create it.
        let present = try await admin.describeTopics(topics, withSettings: false, timeout: times.kafka)
        try await producer.prepare(present.map(\.name), timeout: times.kafka)
      } catch {
        logger.notice(
          "could not reach Kafka at the start; the ingress responds 503 until it can", metadata: ["error": "\(error)"])
      }
    }
    defer { preparation.cancel() }
    // Services stop in reverse order, so the producer and the log outlive the last request.
    var services: [any Service] = [refusals, ProducerService(producer)]
    if let reporter { services.append(reporter) }
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
      let (metrics, heads) = (metrics, responder.heads)
      let http1 = HTTP1Channel.Configuration(
        additionalChannelHandlers: [
          ConnectionGuard(
            limits: limits, refusal: RefusedRequest.malformedHead.problem.closingParts,
            onSlowClient: { metrics.slowClient($0) },
            onMalformedHead: { metrics.refuse(nil, .malformedHead) }, invites: { heads.invites($0) })
        ],
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: settings.maxHeaderBytes, maxHeaderListSize: settings.maxHeaderBytes,
          maxHeaderFieldCount: 100))
      let plain = HTTPServerBuilder { responder in
        EventLoopChannel(base: HTTP1Channel(responder: responder, configuration: http1))
      }
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
  /// Returns the topics that the ingress writes to, for the readiness check.
  package static func topics(of catalog: TopicCatalog) -> [TopicDefinition] {
    catalog.notificationTopics + [catalog.topic(named: QuarantineRecord.topic)].compactMap { $0 }
  }
}
