// The console put together: topics read in the background, pages in front.

internal import AppStore
public import Clocks
internal import Crypto
internal import Hummingbird
internal import HummingbirdCore
public import Kafka
public import Logging
public import Millrace
internal import NIOCore
public import ServiceLifecycle

/// How a console was started.
public struct ConsoleOptions: Sendable, Hashable {
  /// Whether anybody may act; without it the console shows and does nothing.
  public var allowsActions = false
  /// Whether payloads are shown. They are personal data.
  public var showsPayloads = false
  /// Who acts where no proxy names anybody.
  public var localUser = "console"

  /// Read-only, without payloads.
  public init() {}
}

/// Shows a deployment to its operators.
public struct ConsoleServer: Service {
  private let reader: ConsoleReader
  private let front: ConsoleFront
  private let logger: Logger

  /// Puts a console together; connects to nothing yet.
  /// - Parameter onListening: called with the port once requests are accepted.
  public init(
    _ configuration: MillraceConfiguration, catalog: TopicCatalog, kafka: KafkaConfiguration, options: ConsoleOptions,
    clock: MillraceClock, logger: Logger, onListening: @escaping @Sendable (Int) async -> Void = { _ in }
  ) {
    let topics = ConsoleTopics(catalog, configuration)
    let store = ConsoleStore(topics, deadLetters: configuration.console.deadLetters, clock: clock)
    reader = ConsoleReader(configuration: configuration, kafka: kafka, topics: topics, store: store, logger: logger)
    let connection = LogConnection(kafka)
    let responder = ConsoleResponder(
      policy: AccessPolicy(
        settings: configuration.console, allowsActions: options.allowsActions, localUser: options.localUser,
        tokens: FormTokens { MillraceClock.system.wallTime.millisecondsSince1970 / 1_000 }),
      store: store, topics: topics, settings: configuration.console, showsPayloads: options.showsPayloads,
      log: { try await connection.log() }, clock: clock, logger: logger)
    front = ConsoleFront(
      responder: responder, settings: configuration.console, logger: logger, onListening: onListening)
    self.logger = logger
  }

  /// Serves until shut down.
  public func run() async throws {
    var quiet = logger
    quiet.logLevel = max(.notice, logger.logLevel)
    // The front leaves first: what it shows comes from the reader.
    try await ServiceGroup(configuration: .init(services: [reader, front], logger: quiet)).run()
  }
}

/// The pages alone.
struct ConsoleFront: Service {
  let responder: ConsoleResponder
  let settings: ConsoleSettings
  let logger: Logger
  let onListening: @Sendable (Int) async -> Void

  private static let connections = 256

  func run() async throws {
    var quiet = logger
    quiet.logLevel = max(.notice, logger.logLevel)
    let application = Application(
      responder: responder,
      server: .http1(configuration: .init(httpDecoderConfiguration: .init(maxHeaderListSize: 16 << 10))),
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

/// The log, once the cluster has said what it is.
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
