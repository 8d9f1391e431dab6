// Running a process: its services in order, SIGTERM and SIGINT as a request to finish, a bound on how long that takes,
// and an exit status. Errors come out as one readable line each, never as a stack trace.

internal import Clocks
internal import Kafka
public import Logging
public import ServiceLifecycle
internal import UnixSignals

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Runs the services of one process.
public struct ProcessRunner: Sendable {
  private let name: String
  private let grace: Duration
  private let readiness: ReadinessBoard?
  private let logger: Logger
  private let forceExit: @Sendable (ExitStatus) -> Void

  /// A runner.
  ///
  /// - Parameters:
  ///   - name: The process's name in what it prints.
  ///   - shutdown: How long it may take to leave.
  ///   - readiness: Told when the process begins to leave.
  public init(name: String, shutdown: ShutdownSettings, readiness: ReadinessBoard?, logger: Logger) {
    self.init(name: name, shutdown: shutdown, readiness: readiness, logger: logger) { status in
      // Not exit(): what hangs may hold a lock that an exit handler wants.
      _exit(status.rawValue)
    }
  }

  init(
    name: String, shutdown: ShutdownSettings, readiness: ReadinessBoard?, logger: Logger,
    forceExit: @escaping @Sendable (ExitStatus) -> Void
  ) {
    self.name = name
    self.grace = shutdown.grace
    self.readiness = readiness
    self.logger = logger
    self.forceExit = forceExit
  }

  /// Runs `services` until one fails or the process is asked to leave, and says how it ended.
  ///
  /// - Parameter services: In the order of their dependencies: the first starts first and is the last to be asked to
  ///   leave, so list what others need (Kafka) before those that need it (the HTTP server).
  public func run(_ services: [any Service]) async -> ExitStatus {
    let watch = ShutdownWatch(
      limit: grace + .seconds(5), clock: .system, readiness: readiness, logger: logger, forceExit: forceExit)
    // The library names every service in its own lines; those of a healthy life are of no interest here.
    var quiet = logger
    quiet.logLevel = max(.notice, logger.logLevel)
    var configuration = ServiceGroupConfiguration(
      services: (services + [watch]).map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm, .sigint],
      logger: quiet)
    configuration.maximumGracefulShutdownDuration = grace
    do {
      logger.info("\(name) started")
      try await ServiceGroup(configuration: configuration).run()
      logger.info("\(name) ended")
      return .success
    } catch is CancellationError {
      logger.error("\(name) did not finish within its shutdown grace and was cancelled")
      return .software
    } catch {
      logger.error("\(name) failed", metadata: ["error": "\(error)"])
      return ExitStatus(error)
    }
  }

  /// Prints `error` on the standard error stream, one line for each problem, and says how the process is to exit.
  public static func explain(_ error: any Error, name: String, sink: LogSink = .standardError) -> ExitStatus {
    for line in lines(of: error) { sink.write(Array("\(name): \(line)\n".utf8)) }
    return ExitStatus(error)
  }

  static func lines(of error: any Error) -> [String] {
    if let error = error as? MillraceError { return error.problems.map(\.description) }
    if let error = error as? KafkaError, error.code == .invalidConfiguration {
      return ["kafka.properties: \(error.reason); correct or remove it"]
    }
    return [String("\(error)".map { $0.isNewline ? " " : $0 })]
  }
}
