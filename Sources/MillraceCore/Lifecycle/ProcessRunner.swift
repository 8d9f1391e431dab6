// Runs a process: starts its services in order, shuts down on SIGTERM and SIGINT within a time limit, and returns an
// exit status. Each error is printed as one readable line, never as a stack trace.

internal import MillraceTime
internal import KafkaClient
package import Logging
package import ServiceLifecycle
internal import UnixSignals

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Runs the services of one process.
package struct ProcessRunner: Sendable {
  private let name: String
  private let grace: Duration
  private let readiness: ReadinessBoard?
  private let logger: Logger
  private let forceExit: @Sendable (ExitStatus) -> Void

  /// Creates a runner.
  ///
  /// - Parameters:
  ///   - name: The process's name in its output.
  ///   - shutdown: The time limit for the shutdown.
  ///   - readiness: Reports the process as not ready once the shutdown begins.
  package init(name: String, shutdown: ShutdownSettings, readiness: ReadinessBoard?, logger: Logger) {
    self.init(name: name, shutdown: shutdown, readiness: readiness, logger: logger) { status in
      // Not exit(): a hanging service may hold a lock that an exit handler needs.
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

  /// Runs `services` until one fails or the process receives a signal, and returns the exit status.
  ///
  /// - Parameter services: The services in the order of their dependencies. The first starts first and shuts down last,
  ///   so list Kafka clients before the HTTP server that needs them.
  package func run(_ services: [any Service]) async -> ExitStatus {
    let watch = ShutdownWatch(
      limit: grace + .seconds(5), clock: .system, readiness: readiness, logger: logger, forceExit: forceExit)
    // The library logs the start and end of every service; only its warnings are of interest.
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
      logger.error("\(name) did not finish within shutdown.grace and was cancelled")
      return .software
    } catch {
      logger.error("\(name) failed", metadata: ["error": "\(error)"])
      return ExitStatus(error)
    }
  }

  /// Prints `error` on the standard error stream, one line per problem, and returns the exit status.
  package static func explain(_ error: any Error, name: String, sink: LogSink = .standardError) -> ExitStatus {
    for line in lines(of: error) { sink.write(Array("\(name): \(line)\n".utf8)) }
    return ExitStatus(error)
  }

  static func lines(of error: any Error) -> [String] {
    if let error = error as? MillraceError { return error.problems.map(\.description) }
    if let error = error as? KafkaError, error.code == .invalidConfiguration {
      return ["kafka.properties: \(error.reason); correct or remove it"]
    }
    if let error = error as? KafkaError { return ["\(error); \(error.advice)"] }
    return [String("\(error)".map { $0.isNewline ? " " : $0 })]
  }
}
