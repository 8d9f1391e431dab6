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
  private struct State {
    var handler: HandlerSettings
    var endpoint: Endpoint
    var stamps: [String: Files.Stamp]
    var checked: MillraceClock.Instant
    /// The connections of the endpoint. Nil if a test provides them.
    var connections: AsyncHTTPExchange?
    /// Earlier connections, which requests may still use.
    var retired: [(exchange: AsyncHTTPExchange, since: MillraceClock.Instant)] = []
  }

  private let name: String
  private let file: String?
  private let parallelism: Int
  private let given: (any HTTPExchange)?
  private let clock: MillraceClock
  private let logger: Logger
  private let environment: [String: String]
  private let state: Mutex<State>

  /// How long a look at the files counts.
  static let interval = Duration.seconds(1)

  /// - Parameters:
  ///   - parallelism: The number of requests at one time.
  ///   - given: Sends the requests instead of connections of its own, for tests.
  ///   - clock: Real time, because files change in real time.
  /// - Throws: ``MillraceError`` that names the file that could not be used.
  init(
    _ name: String, _ configuration: MillraceConfiguration, parallelism: Int, exchange given: (any HTTPExchange)? = nil,
    environment: [String: String] = ProcessInfo.processInfo.environment, clock: MillraceClock = .system, logger: Logger
  ) throws(MillraceError) {
    let handler = configuration.workers[name]?.handler ?? HandlerSettings()
    let connections = given == nil ? try Self.connect(handler, of: name, parallelism) : nil
    let endpoint = try Self.endpoint(handler, of: name, given ?? connections)
    self.name = name
    self.file = configuration.file
    self.parallelism = parallelism
    self.given = given
    self.clock = clock
    self.logger = logger
    self.environment = environment
    state = Mutex(
      State(
        handler: handler, endpoint: endpoint, stamps: Self.stamps(configuration.file, handler), checked: clock.now,
        connections: connections))
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
    let exchanges = state.withLock { state in
      defer { (state.connections, state.retired) = (nil, []) }
      return state.retired.map(\.exchange) + (state.connections.map { [$0] } ?? [])
    }
    for exchange in exchanges { await close(exchange) }
  }

  private func update(_ state: inout State, now: MillraceClock.Instant) {
    let unused = state.retired.filter { $0.since.duration(to: now) > state.endpoint.timeout * 2 }
    if !unused.isEmpty {
      state.retired.removeFirst(unused.count)
      Task { for old in unused { await close(old.exchange) } }
    }
    let stamps = Self.stamps(file, state.handler)
    guard stamps != state.stamps else { return }
    do {
      let handler = try reload(state.handler)
      let hasNewConnections = given == nil && Self.needsNewConnections(state, handler, stamps)
      let connections = hasNewConnections ? try Self.connect(handler, of: name, parallelism) : state.connections
      state.endpoint = try Self.endpoint(handler, of: name, given ?? connections)
      if hasNewConnections, let old = state.connections { state.retired.append((old, now)) }
      state.connections = connections
      state.handler = handler
      state.stamps = Self.stamps(file, handler)
      logger.info("the handler has changed; requests use its new settings")
    } catch {
      // Look again only if a file changes again.
      state.stamps = stamps
      logger.warning(
        "the handler's new settings cannot be used; requests use the old ones", metadata: ["error": "\(error)"])
    }
  }

  private func reload(_ old: HandlerSettings) throws(MillraceError) -> HandlerSettings {
    guard let file else { return old }
    let loaded = try LoadedConfiguration.load(path: file, environment: environment)
    guard let entry = loaded.configuration.workers[name], entry.isHTTPWorker else {
      throw MillraceError(
        .configuration, "the worker \(name) has lost its handler", at: file,
        remedy: "stop the worker, or add it again")
    }
    return entry.handler
  }

  private static func needsNewConnections(
    _ state: State, _ handler: HandlerSettings, _ stamps: [String: Files.Stamp]
  ) -> Bool {
    let old = state.handler
    let files = [handler.certificateAuthorityFile, handler.certificateFile, handler.keyFile]
    return files != [old.certificateAuthorityFile, old.certificateFile, old.keyFile]
      || files.compactMap(\.self).contains { stamps[$0] != state.stamps[$0] }
  }

  private static func stamps(_ file: String?, _ handler: HandlerSettings) -> [String: Files.Stamp] {
    var stamps: [String: Files.Stamp] = [:]
    for path in handler.files + (file.map { [$0] } ?? []) { stamps[path] = Files.stamp(path) }
    return stamps
  }

  private static func connect(
    _ handler: HandlerSettings, of name: String, _ parallelism: Int
  ) throws(MillraceError) -> AsyncHTTPExchange {
    do {
      return try .using(files: Endpoint.connections(handler, count: parallelism))
    } catch {
      throw MillraceError(
        .configuration, error.what, at: "workers.\(name).handler", remedy: "correct the file, or name another one")
    }
  }

  private static func endpoint(
    _ handler: HandlerSettings, of name: String, _ exchange: (any HTTPExchange)?
  ) throws(MillraceError) -> Endpoint {
    guard let url = handler.url, let exchange else {
      throw MillraceError(
        .configuration, "the handler has no url", at: "workers.\(name).handler.url",
        remedy: "set the URL of the endpoint")
    }
    return Endpoint(
      url: url, payload: handler.effectivePayload, timeout: handler.effectiveTimeout,
      signature: try Endpoint.signature(handler, of: name), exchange: exchange)
  }

  private func close(_ exchange: AsyncHTTPExchange) async {
    do {
      try await exchange.shutdown()
    } catch {
      logger.warning("the connections of the handler could not be closed", metadata: ["error": "\(error.what)"])
    }
  }
}
