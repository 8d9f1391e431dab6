// An endpoint behind a circuit, as HTTP workers and webhooks use it.

internal import AppStore
internal import Logging
internal import MillraceCore
internal import MillraceTime
internal import MillraceWorker

/// An endpoint with its circuit and its metrics.
struct GuardedEndpoint: Sendable {
  let metrics: HTTPWorkerMetrics
  private let source: EndpointSource
  private let gate: CircuitGate
  private let clock: MillraceClock

  /// The time of a run that is left for everything but the request.
  private static let margin = Duration.milliseconds(250)

  /// Reads the secrets. The host shows the circuit in `/readyz`, and closes the connections at its end.
  /// - Parameter waiting: What waits while the circuit is open, for the log.
  /// - Throws: ``MillraceError`` that names the file that could not be used.
  init(_ setup: WorkerSetup, _ policy: WorkerPolicy, waiting: String) throws {
    clock = setup.clock
    setup.host?.describe(HTTPWorkerMetrics.helpTexts.map { (name: $0.0, help: $0.1) })
    let metrics = HTTPWorkerMetrics(worker: setup.name, factory: setup.metrics)
    self.metrics = metrics
    let (name, logger) = (setup.name, setup.logger)
    let declared = try setup.configuration.endpoint(of: name)?.dryRuns ?? false
    guard setup.dryRun == nil || declared else {
      throw MillraceError(
        .configuration, "the endpoint of \(name) does not declare that it supports dry runs, so it would act",
        at: "\(Endpoint.place(of: name)).dryRuns",
        remedy: "implement them, check them with millrace handler check, and set it to true")
    }
    let url = URLMask.text(try setup.configuration.endpoint(of: name)?.url ?? "")
    let gate = CircuitGate(clock: setup.clock) { status in
      metrics.isOpen(status.isOpen)
      var metadata: Logger.Metadata = ["worker": "\(name)", "endpoint": "\(url)"]
      guard status.isOpen else { return logger.notice("the circuit is closed", metadata: metadata) }
      metadata["misconfigured"] = "\(status.isMisconfigured)"
      metadata["cause"] = status.cause.map { "\($0)" }
      logger.warning("the circuit is open: \(waiting) wait", metadata: metadata)
    }
    self.gate = gate
    // Connections of its own, so that a slow endpoint delays no other worker.
    let source = try EndpointSource(
      setup.name, setup.configuration, parallelism: policy.parallelism * setup.configuration.topics.lanes,
      longestRequest: policy.handlerTimeout - Self.margin, exchange: setup.host == nil ? setup.http : nil,
      dryRun: setup.dryRun, logger: setup.logger)
    self.source = source
    setup.host?.whenClosing { await source.close() }
    setup.host?.add(.endpoint(of: setup.name, gate))
    setup.host?.report(circuit: { gate.status.report }, of: setup.name)
  }

  /// The endpoint as it is configured now.
  var current: Endpoint { source.current() }

  /// The latest start of a request that still has its whole time.
  func latestStart(in context: HandlerContext) -> MillraceClock.Instant {
    // The clock of a rehearsal may run faster than real time.
    let spare = context.deadline - clock.wallTime - (current.timeout + Self.margin) * clock.rate
    return clock.now.advanced(by: max(.zero, spare))
  }

  /// Waits until the circuit allows a request.
  /// - Returns: Nil if it does. Otherwise the time until which it is open.
  func enter(_ record: String, until latest: MillraceClock.Instant) async throws -> Timestamp? {
    let isWaiting = gate.status.isOpen
    if isWaiting { metrics.beganWaiting() }
    defer { if isWaiting { metrics.endedWaiting() } }
    return try await gate.enter(record, until: latest).map { clock.wallTime + clock.now.duration(to: $0) }
  }

  /// Sends a request that the circuit has allowed, and tells the circuit its result.
  /// - Parameters:
  ///   - request: Sends it. It gets the present time and the longest time for the request, both real.
  ///   - result: What a reply means for the circuit, and what happened.
  /// - Returns: The reply, and how long it took in real time.
  func send<Reply>(
    _ record: String, in context: HandlerContext,
    _ request: (_ endpoint: Endpoint, _ now: Timestamp, _ limit: Duration) async throws -> Reply,
    result: (Reply) -> (result: Circuit.Result, cause: String?)
  ) async throws -> (reply: Reply, took: Duration) {
    let endpoint = current
    let left = (context.deadline - clock.wallTime) / clock.rate - Self.margin
    let started = clock.now
    do {
      let reply = try await request(endpoint, clock.realTime, max(Self.margin, min(endpoint.timeout, left)))
      let (meaning, cause) = result(reply)
      gate.ended(record, meaning, because: cause)
      return (reply, started.duration(to: clock.now) / clock.rate)
    } catch {
      gate.ended(record, .abandoned)
      throw error
    }
  }
}
