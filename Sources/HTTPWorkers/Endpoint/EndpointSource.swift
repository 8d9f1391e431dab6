// Keeps the endpoint of a worker up to date: its URL, secrets and certificates can change without a restart.

internal import AppStoreServerAPI
internal import Logging
internal import MillraceCore
internal import MillraceTime
internal import MillraceWorker
internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The endpoint of one worker.
///
/// At most once a second, a request looks whether the configuration file or a file of the handler has changed. If the
/// new content cannot be used, the endpoint stays as it was, and the log says why.
final class EndpointSource: Sendable {
  private typealias Stamps = [String: Files.Stamp]

  /// The certificates of connections.
  private struct Certificates: Equatable {
    var files: [String?]
    var stamps: Stamps

    init(_ handler: HandlerSettings) {
      files = [handler.certificateAuthorityFile, handler.certificateFile, handler.keyFile]
      stamps = EndpointSource.stamps(files.compactMap(\.self))
    }
  }

  private struct State {
    var handler: HandlerSettings
    var endpoint: Endpoint
    /// The files on which the endpoint depends, also those that could not be used.
    var watched: [String]
    /// The files at the last look.
    var seen: Stamps
    var checked: MillraceClock.Instant
    /// The connections of the endpoint. Nil if a test provides them.
    var connections: AsyncHTTPExchange?
    /// The certificates of ``connections``.
    var certificates: Certificates
    /// Earlier connections, and the times until which requests may use them.
    var retired: [(exchange: AsyncHTTPExchange, until: MillraceClock.Instant)] = []
    /// Closes earlier connections.
    var closing: Task<Void, Never>?
    var isClosed = false
  }

  private let name: String
  private let file: String?
  private let parallelism: Int
  private let longestRequest: Duration?
  private let given: (any HTTPExchange)?
  private let dryRun: DryRunJournal?
  private let clock: MillraceClock
  private let logger: Logger
  private let environment: [String: String]
  private let state: Mutex<State>

  /// How long a look at the files counts.
  static let interval = Duration.seconds(1)

  /// - Parameters:
  ///   - parallelism: The number of requests at one time.
  ///   - longestRequest: The time that a run leaves for a request; nil: no limit.
  ///   - given: Sends the requests instead of connections of its own, for tests.
  ///   - clock: Real time, because files change in real time.
  /// - Throws: ``MillraceError`` that names the file that could not be used.
  init(
    _ name: String, _ configuration: MillraceConfiguration, parallelism: Int, longestRequest: Duration? = nil,
    exchange given: (any HTTPExchange)? = nil, dryRun: DryRunJournal? = nil,
    environment: [String: String] = ProcessInfo.processInfo.environment, clock: MillraceClock = .system, logger: Logger
  ) throws(MillraceError) {
    let handler = try configuration.endpoint(of: name) ?? HandlerSettings()
    // The stamps come before the content, so that a later change is noticed.
    let watched = Self.files(configuration.file, handler)
    let (seen, certificates) = (Self.stamps(watched), Certificates(handler))
    // The connections come last: an error after them would leave them open.
    let (url, signature) = (try Self.url(of: handler, name), try Endpoint.signature(handler, of: name))
    let exchange: any HTTPExchange
    var connections: AsyncHTTPExchange?
    if let given {
      exchange = given
    } else {
      let made = try Self.connect(handler, of: name, parallelism)
      (exchange, connections) = (dryRun?.guarding(made) ?? made, made)
    }
    self.name = name
    self.file = configuration.file
    self.parallelism = parallelism
    self.longestRequest = longestRequest
    self.given = given
    self.dryRun = dryRun
    self.clock = clock
    self.logger = logger
    self.environment = environment
    state = Mutex(
      State(
        handler: handler,
        endpoint: Endpoint(
          url: url, payload: handler.effectivePayload, timeout: handler.effectiveTimeout, signature: signature,
          exchange: exchange, isDryRun: dryRun != nil),
        watched: watched, seen: seen, checked: clock.now, connections: connections, certificates: certificates))
  }

  /// Returns the endpoint.
  func current() -> Endpoint {
    let now = clock.now
    return state.withLock { state in
      if state.checked.duration(to: now) >= Self.interval {
        state.checked = now
        update(&state, now: now)
      }
      return state.endpoint
    }
  }

  /// Closes the connections.
  func close() async {
    let (exchanges, closing) = state.withLock { state in
      state.isClosed = true
      defer { (state.connections, state.retired, state.closing) = (nil, [], nil) }
      return (state.retired.map(\.exchange) + (state.connections.map { [$0] } ?? []), state.closing)
    }
    await closing?.value
    for exchange in exchanges { await close(exchange) }
  }

  private func update(_ state: inout State, now: MillraceClock.Instant) {
    guard !state.isClosed else { return }
    closeRetired(&state, now: now)
    let seen = Self.stamps(state.watched)
    guard seen != state.seen else { return }
    // If the new content cannot be used, look again only if a file changes again.
    state.seen = seen
    do {
      let handler = try reload(state.handler)
      // The stamps come before the content, as in the initializer. The configuration file is read already.
      state.watched = Self.files(file, handler)
      state.seen = Self.stamps(state.watched)
      if let file { state.seen[file] = seen[file] }
      let certificates = Certificates(handler)
      let (url, signature) = (try Self.url(of: handler, name), try Endpoint.signature(handler, of: name))
      var exchange = state.endpoint.exchange
      if let old = state.connections, certificates != state.certificates {
        let made = try Self.connect(handler, of: name, parallelism)
        state.retired.append((old, now.advanced(by: state.endpoint.timeout * 2)))
        (exchange, state.connections, state.certificates) = (dryRun?.guarding(made) ?? made, made, certificates)
      }
      state.endpoint = Endpoint(
        url: url, payload: handler.effectivePayload, timeout: handler.effectiveTimeout, signature: signature,
        exchange: exchange, isDryRun: dryRun != nil)
      state.handler = handler
      logger.info("the handler has changed; requests use its new settings")
      warn(about: handler)
    } catch {
      logger.warning(
        "the handler's new settings cannot be used; requests use the old ones", metadata: ["error": "\(error)"])
    }
  }

  /// `handlerTimeout` does not change before a restart.
  private func warn(about handler: HandlerSettings) {
    guard let longestRequest, handler.effectiveTimeout > longestRequest else { return }
    logger.warning(
      "a request may not take as long as its new timeout until the process restarts",
      metadata: [
        "timeout": "\(DurationText.text(handler.effectiveTimeout))", "limit": "\(DurationText.text(longestRequest))",
      ])
  }

  private func closeRetired(_ state: inout State, now: MillraceClock.Instant) {
    let unused = state.retired.filter { $0.until <= now }
    guard !unused.isEmpty else { return }
    state.retired.removeAll { $0.until <= now }
    state.closing = Task { [earlier = state.closing] in
      await earlier?.value
      for old in unused { await close(old.exchange) }
    }
  }

  private func reload(_ old: HandlerSettings) throws(MillraceError) -> HandlerSettings {
    guard let file else { return old }
    let loaded = try LoadedConfiguration.load(path: file, environment: environment)
    guard let handler = try loaded.configuration.endpoint(of: name) else {
      throw MillraceError(
        .configuration, "the worker \(name) no longer has a handler", at: file,
        remedy: "stop the worker, or add it again")
    }
    return handler
  }

  private static func files(_ file: String?, _ handler: HandlerSettings) -> [String] {
    handler.files + (file.map { [$0] } ?? [])
  }

  private static func stamps(_ files: [String]) -> Stamps {
    var stamps: Stamps = [:]
    for path in files { stamps[path] = Files.stamp(path) }
    return stamps
  }

  private static func connect(
    _ handler: HandlerSettings, of name: String, _ parallelism: Int
  ) throws(MillraceError) -> AsyncHTTPExchange {
    do {
      return try .using(files: Endpoint.connections(handler, count: parallelism))
    } catch {
      throw MillraceError(
        .configuration, error.what, at: Endpoint.place(of: name), remedy: "correct the file, or name another one")
    }
  }

  private static func url(of handler: HandlerSettings, _ name: String) throws(MillraceError) -> String {
    guard let url = handler.url else {
      throw MillraceError(
        .configuration, "the handler has no url", at: "\(Endpoint.place(of: name)).url",
        remedy: "set the URL of the endpoint")
    }
    return url
  }

  private func close(_ exchange: AsyncHTTPExchange) async {
    do {
      try await exchange.shutdown()
    } catch {
      logger.warning("the connections of the handler could not be closed", metadata: ["error": "\(error.what)"])
    }
  }
}
