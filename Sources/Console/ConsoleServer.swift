// Combines the background reader of the topics with the HTTP server of the pages.

internal import AppStore
package import MillraceTime
internal import Crypto
internal import Hummingbird
internal import HummingbirdCore
package import KafkaClient
package import Logging
package import MillraceCore
package import MillraceRecords
internal import NIOCore
internal import Operations
internal import ServiceLifecycle

/// The options of a console that are set on its command line.
package struct ConsoleOptions: Sendable, Hashable {
  /// Whether users may act on dead letters and runs. If false, the console is read-only.
  package var allowsActions = false
  /// Whether pages show payloads, which are personal data.
  package var showsPayloads = false
  /// The user's name if the console runs without a proxy.
  package var localUser = "console"

  /// Creates options for a read-only console without payloads.
  package init() {}
}

/// Serves pages that show a deployment to its operators.
package struct ConsoleServer: Service {
  /// Whether Kafka has answered lately.
  package let readiness: ReadinessCheck
  private let reader: ConsoleReader
  private let front: ConsoleFront
  /// Nil if no alerts are posted.
  private let alerts: AlertPoster?
  private let history: HistoryWriter
  private let logger: Logger

  /// Creates a console. It connects to Kafka when it runs.
  /// - Parameter onListening: Called with the port when the console accepts requests.
  package init(
    _ configuration: MillraceConfiguration, catalog: TopicCatalog, kafka: KafkaConfiguration, options: ConsoleOptions,
    clock: MillraceClock, logger: Logger, onListening: @escaping @Sendable (Int) async -> Void = { _ in }
  ) {
    let topics = ConsoleTopics(catalog, configuration)
    let store = ConsoleStore(
      topics, deadLetters: configuration.console.deadLetters, alerts: configuration.alerts, clock: clock)
    let remedy = "check that this host can reach the brokers in kafka.bootstrapServers"
    readiness = ReadinessCheck("kafka", remedy: remedy) { await store.outcome(remedy: remedy) }
    alerts =
      configuration.alerts.webhook.isConfigured
      ? AlertPoster(configuration: configuration, kafka: kafka, store: store, logger: logger) : nil
    reader = ConsoleReader(configuration: configuration, kafka: kafka, topics: topics, store: store, logger: logger)
    // With the usual amount of prefetching, one search of all notifications takes more memory than everything else.
    let connection = LogConnection(kafka.reading(kilobytes: 64, messages: 200))
    history = HistoryWriter(
      topic: configuration.topics.prefix + WorkerTopics.controlTopic, store: store,
      log: { try await connection.log() }, logger: logger)
    var responder = ConsoleResponder(
      policy: AccessPolicy(
        settings: configuration.console, allowsActions: options.allowsActions, localUser: options.localUser,
        tokens: FormTokens { MillraceClock.system.wallTime.millisecondsSince1970 / 1_000 }),
      store: store, topics: topics, settings: configuration.console, showsPayloads: options.showsPayloads,
      log: { try await connection.log() }, clock: clock, logger: logger)
    do {
      responder.quarantineService = try QuarantineService(
        configuration, catalog, reading: { try await KafkaLog.reader(kafka) },
        writing: { try await connection.log() }, clock: clock)
    } catch {
      logger.notice("the pages of the quarantine are not available", metadata: ["error": "\(error)"])
    }
    responder.apple = CustomerSearch.asking(configuration, clock: clock) { logger.info("\($0)") }
    responder.erasure = { key in
      try await ErasedCustomers(configuration, on: connection.log()).current().time(of: key)
    }
    front = ConsoleFront(
      responder: responder, settings: configuration.console, logger: logger, onListening: onListening)
    self.logger = logger
  }

  /// Serves until graceful shutdown.
  package func run() async throws {
    var quiet = logger
    quiet.logLevel = max(.notice, logger.logLevel)
    // Services stop in reverse order. The front stops first because it shows what the reader collects.
    let services: [any Service] = [reader, history] + (alerts.map { [$0] } ?? []) + [front]
    try await ServiceGroup(configuration: .init(services: services, logger: quiet)).run()
  }
}

/// The HTTP server of the pages.
struct ConsoleFront: Service {
  let responder: ConsoleResponder
  let settings: ConsoleSettings
  let logger: Logger
  let onListening: @Sendable (Int) async -> Void

  private static let connections = 256
  private static let largestHead = 16 << 10
  /// The time limits of a connection. A client that does not read its response is slow as well.
  var limits = ConnectionGuard.Limits(head: .seconds(10), body: .seconds(30), idle: .seconds(60))

  func run() async throws {
    var quiet = logger
    quiet.logLevel = max(.notice, logger.logLevel)
    let application = Application(
      responder: responder,
      server: .http1(
        configuration: .init(
          additionalChannelHandlers: [
            ConnectionGuard(limits: limits, refusal: Answers.malformedHead, invites: { _ in false })
          ],
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: Self.largestHead, maxHeaderListSize: Self.largestHead, maxHeaderFieldCount: 100))),
      configuration: .init(
        address: .hostname(settings.host, port: settings.port),
        availableConnectionsDelegate: .maximum(Self.connections, logger: quiet)),
      onServerRunning: { [onListening, logger] channel in
        let port = channel.localAddress?.port ?? settings.port
        logger.info("console listening", metadata: ["host": "\(settings.host)", "port": "\(port)"])
        await onListening(port)
      },
      logger: quiet)
    do {
      try await application.run()
    } catch let error as IOError {
      throw MillraceError(listening: error, host: settings.host, port: settings.port, key: "console.port")
    }
  }
}

/// Connects to Kafka on first use and keeps the connection.
private actor LogConnection {
  private let kafka: KafkaConfiguration
  private var known: KafkaLog?

  init(_ kafka: KafkaConfiguration) { self.kafka = kafka }

  func log() async throws -> any RecordLog {
    if let known { return known }
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(10))
    known = log
    return log
  }
}
