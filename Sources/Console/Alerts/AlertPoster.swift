// Posts alerts to the webhook of the configuration. Of all consoles, the member of the group `millrace.alerts` that owns the
// one partition of `millrace.control` posts. What was posted is on that topic, so the next owner continues.

internal import AppStore
internal import AppStoreServerAPI
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime
internal import MillraceWorker
internal import Operations
internal import ServiceLifecycle
internal import Synchronization

/// Watches the tables of a console, and posts what needs attention.
struct AlertPoster: Service {
  /// The consumer group, without the deployment's prefix.
  static let group = "millrace.alerts"

  let configuration: MillraceConfiguration
  let kafka: KafkaConfiguration
  let store: ConsoleStore
  let logger: Logger
  /// Sends the posts instead of connections of its own, for tests.
  var exchange: (any HTTPExchange)?
  /// Real time, like Kafka's.
  var clock = MillraceClock.system

  /// The time between two looks at the tables.
  private static let interval = Duration.seconds(3)
  /// The age of the last answer of Kafka above which the tables say nothing.
  private static let staleness = Duration.seconds(30)

  private let status = PosterStatus()

  private var topic: String { configuration.topics.prefix + WorkerTopics.controlTopic }

  /// Posts until graceful shutdown. Without Kafka it retries, and posts that Kafka does not answer.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await watchKafka() }
      group.addTask { await keepServing() }
    }
  }

  private func keepServing() async {
    var backoff = Backoff(from: .seconds(1), upTo: .seconds(30))
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      do { try await serve() } catch is CancellationError {
        // The loop ends.
      } catch {
        logger.warning("alerts cannot be posted; retrying", metadata: ["error": "\(error)"])
      }
      let pause = backoff.next()
      do { try await cancelWhenGracefulShutdown { try await clock.sleep(for: pause) } } catch { return }
    }
  }

  private func serve() async throws {
    let log = try await KafkaLog.connect(kafka, timeout: ClusterSurvey.timeout, logger: logger)
    var own = kafka.reading(kilobytes: 1, messages: 1)
    own.properties["session.timeout.ms"] = own.properties["session.timeout.ms"] ?? "10000"
    let member = try KafkaConsumer(
      own, subscription: .group(configuration.topics.prefix + Self.group, topics: [topic]),
      observer: .reporting(client: "alerts", to: logger))
    let reporter = ProcessReporter(topic: topic, log: log, clock: clock, logger: logger) { [status] in
      status.report.map { [$0] } ?? []
    }
    try await withGracefulShutdownHandler {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await member.run() }
        group.addTask { await reporter.run() }
        var failure: (any Error)?
        do { try await serve(member, log) } catch { failure = error }
        member.shutDown()
        // At a shutdown the reporter ends by itself, after its last record.
        if !Task.isShuttingDownGracefully { group.cancelAll() }
        while let end = await group.nextResult() {
          if case .failure(let error) = end { failure = failure ?? error }
        }
        if let failure { throw failure }
      }
    } onGracefulShutdown: {
      member.shutDown()
    }
  }

  /// Posts while this process owns the partition.
  private func serve(_ member: KafkaConsumer, _ log: any RecordLog) async throws {
    var posting: Task<Void, any Error>?
    func stop() async throws {
      posting?.cancel()
      // A post that has begun is finished first.
      let result = await posting?.result
      posting = nil
      status.stopped(at: clock.wallTime)
      if case .failure(let error)? = result { throw error }
    }
    for await event in member.events {
      switch event {
      case .assigned(let queues):
        guard !queues.isEmpty else { continue }
        posting = Task {
          do { try await post(log) } catch is CancellationError {
            // Another console takes over, and this one stays a member.
          } catch {
            member.shutDown()
            throw error
          }
        }
      case .revoked(let revocation):
        defer { revocation.complete() }
        try await stop()
      }
    }
    try await stop()
  }

  // MARK: - Posting

  /// Posts until the task is cancelled.
  private func post(_ log: any RecordLog) async throws {
    try await withExchange { try await post(log, $0) }
  }

  /// Connects to the receiver while `body` runs.
  private func withExchange<Value: Sendable>(
    _ body: (any HTTPExchange) async throws -> Value
  ) async throws -> Value {
    let webhook = configuration.alerts.webhook
    var connections = AsyncHTTPExchange.Configuration()
    connections.connectTimeout = webhook.timeout
    connections.cutsOffBodies = true
    connections.tls = TLSFiles(authority: webhook.certificateAuthorityFile)
    let made = exchange == nil ? try AsyncHTTPExchange.using(files: connections) : nil
    let result: Result<Value, any Error>
    do {
      result = .success(try await body(exchange ?? made ?? AsyncHTTPExchange(connections)))
    } catch {
      result = .failure(error)
    }
    try await made?.shutdown()
    return try result.get()
  }

  private func post(_ log: any RecordLog, _ exchange: any HTTPExchange) async throws {
    var tracker = AlertTracker(
      after: configuration.alerts.after, restoring: try await AlertRecord.episodes(in: log, topic))
    status.began(configuration.kafka.instance)
    logger.info("this process posts alerts")
    var backoff = Backoff(from: .seconds(1), upTo: .seconds(300))
    var next = clock.now
    // Why the receiver does not have the last alert.
    var refusal: String?
    while !Task.isCancelled {
      if let state = await state() {
        tracker.observe(state.conditions(configuration.alerts), unknown: state.unknown, at: clock.wallTime)
        for alert in tracker.due(at: clock.wallTime) {
          guard next <= clock.now, !Task.isCancelled else { break }
          tracker.tried(alert)
          // Not cancelled with this task: if the receiver has the post, the topic has to say so.
          let reply = try await Task { try await send(alert, log, exchange) }.value
          if case .answered(.taken, _, _) = reply {
            backoff.reset()
            refusal = nil
            tracker.posted(alert)
          } else {
            refusal = reply.cause
            next = clock.now.advanced(by: pause(after: reply, to: alert, &backoff))
          }
        }
        status.has(refusal ?? state.refusals.first)
      } else {
        tracker.lostSight()
        status.has("conditions are unknown: \(await store.overview().problems["Kafka"] ?? "topics are not read yet")")
      }
      try await clock.sleep(for: min(Self.interval, max(.milliseconds(100), configuration.alerts.after)))
    }
  }

  /// The present state; nil if the tables do not have it.
  private func state() async -> DeploymentStatus? {
    guard await store.isCaughtUp, let at = await store.facts.at, clock.wallTime - at < Self.staleness else {
      return nil
    }
    return await store.status()
  }

  /// Posts one alert, and writes that it is posted.
  private func send(
    _ alert: Alert, _ log: any RecordLog, _ exchange: any HTTPExchange
  ) async throws -> ReceiverReply {
    if !alert.isResolved { try await log.append([AlertRecord.record(of: alert.episode, to: topic)]) }
    let reply = try await reply(alert, exchange)
    guard case .answered(.taken, _, _) = reply else { return reply }
    var episode = alert.episode
    episode.isPosted = true
    try await log.append([
      alert.isResolved ? AlertRecord.tombstone(of: episode, on: topic) : AlertRecord.record(of: episode, to: topic)
    ])
    return reply
  }

  private func reply(_ alert: Alert, _ exchange: any HTTPExchange) async throws -> ReceiverReply {
    let webhook = configuration.alerts.webhook
    do {
      let request = try AlertMessage(alert: alert, deployment: configuration.topics.prefix).request(
        webhook, at: clock.realTime)
      let reply =
        try await MillraceClock.system.result(within: webhook.timeout) {
          await ReceiverReply.of(request, by: exchange)
        } ?? .failed(code: "timeout", detail: "no answer within \(DurationText.text(webhook.timeout))")
      if case .answered(.taken, _, _) = reply {
        logger.notice(
          "an alert was posted",
          metadata: [
            "condition": "\(alert.episode.condition.id)", "detail": "\(alert.episode.condition.what)",
            "resolved": "\(alert.isResolved)",
          ])
      }
      return reply
    } catch let error as MillraceError {
      return .failed(code: "configuration", detail: "\(error)")
    }
  }

  /// Returns how long to wait after a post that the receiver does not have, and logs it.
  private func pause(after reply: ReceiverReply, to alert: Alert, _ backoff: inout Backoff) -> Duration {
    var pause = backoff.next()
    if case .answered(.later(_, let asked?), _, _) = reply { pause = min(max(pause, asked), .seconds(3_600)) }
    logger.warning(
      "an alert could not be posted; retrying",
      metadata: [
        "condition": "\(alert.episode.condition.id)", "cause": "\(reply.cause)",
        "after": "\(DurationText.text(pause))",
      ])
    return pause
  }

  // MARK: - Kafka

  /// Posts that Kafka does not answer, and that it answers again. Nothing can be written to Kafka meanwhile, so the console
  /// that posted last does it, and remembers it in memory.
  private func watchKafka() async {
    var tracker = AlertTracker(after: configuration.alerts.after)
    var backoff = Backoff(from: .seconds(1), upTo: .seconds(300))
    var next = clock.now
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      let silentSince = await store.silentSince
      if status.speaksForKafka(answeredAt: await store.facts.at) || !tracker.isEmpty {
        tracker.observe(silentSince.map { [.noKafka(since: $0)] } ?? [], at: clock.wallTime)
      }
      for alert in tracker.due(at: clock.wallTime) where next <= clock.now {
        tracker.tried(alert)
        do {
          let answer: ReceiverReply = try await withExchange { try await self.reply(alert, $0) }
          if case .answered(.taken, _, _) = answer {
            backoff.reset()
            tracker.posted(alert)
          } else {
            next = clock.now.advanced(by: pause(after: answer, to: alert, &backoff))
          }
        } catch {
          let failure = ReceiverReply.failed(code: "connection", detail: "\(error)")
          next = clock.now.advanced(by: pause(after: failure, to: alert, &backoff))
        }
      }
      let pause = min(Self.interval, max(.milliseconds(100), configuration.alerts.after))
      do { try await cancelWhenGracefulShutdown { try await clock.sleep(for: pause) } } catch { return }
    }
  }
}

/// The report of the process that posts.
private final class PosterStatus: Sendable {
  private struct State {
    var report: ProcessReport?
    var stoppedAt: Timestamp?
  }

  private let state = Mutex(State())

  var report: ProcessReport? { state.withLock(\.report) }

  /// Returns whether this process posts, or has posted until Kafka stopped to answer. Without Kafka no other process can
  /// take over.
  func speaksForKafka(answeredAt: Timestamp?) -> Bool {
    state.withLock { state in
      guard state.report == nil, let stopped = state.stoppedAt else { return state.report != nil }
      return answeredAt.map { $0 < stopped } ?? true
    }
  }

  func began(_ instance: String?) {
    var generator = SystemRandomNumberGenerator()
    let instance = instance ?? ProcessEnvironment.hostName ?? String(generator.next(), radix: 36)
    let report = ProcessReport(ProcessReport.console, instance: instance, version: MillraceVersion.current)
    state.withLock { $0.report = report }
  }

  func has(_ problem: String?) { state.withLock { $0.report?.problem = problem } }

  func stopped(at now: Timestamp) {
    state.withLock { state in
      if state.report != nil { state.stoppedAt = now }
      state.report = nil
    }
  }
}
