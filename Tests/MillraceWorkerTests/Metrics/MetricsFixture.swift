// Drives a worker on the in-memory log through every event that it has a metric for.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import MillraceTime
import KafkaClient
import Logging
import MillraceTesting
import Synchronization
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

/// A worker on the in-memory log, and the events that fill its metrics.
final class MetricsFixture {
  private let fleet: WorkerFleet
  private let configuration: MillraceConfiguration
  private let credentials: [String: APICredentials]
  private var fixtures: NotificationFixtures
  private let heartbeat: Heartbeat
  private var process: FleetProcess?
  /// Retained, like the heartbeat, because collectors read their budgets at each rendering.
  private(set) var runtimes: [WorkerRuntime] = []

  var registry: PrometheusRegistry { fleet.metrics }
  var topics: WorkerTopics { fleet.topics }

  init() async throws {
    fleet = try WorkerFleet(lanes: 2) { $0.handlerTimeout = .seconds(30) }
    heartbeat = Heartbeat(clock: fleet.clock)
    fixtures = try NotificationFixtures(from: fleet.clock.wallTime, seed: 1)
    var configuration = MillraceConfiguration()
    configuration.apps = [fixtures.appSettings()]
    self.configuration = configuration
    credentials = try fixtures.credentials()
    process = try await start("p")
    for collector in runtimes.flatMap(\.collectors) { registry.add(collector) }
    registry.add(heartbeat.collector)
    // The in-memory log has no Kafka clients, so the test reports their events.
    let observer = ClientObserver.reporting(
      client: "reader", to: Logger(label: "clients") { _ in SwiftLogNoOpLogHandler() }, metrics: registry)
    observer.error(KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true))
    observer.replacement(KafkaError(code: .timedOut, operation: "test", reason: "over", isFatal: true))
    observer.statistics(try KafkaStatistics(document: "{}"))
  }

  private func start(_ name: String) async throws -> FleetProcess {
    let log = fleet.log.process(name)
    // The group refuses the offsets with the first crash mark.
    log.fail(
      .commitOffsets, with: [KafkaError(code: .rebalanceInProgress, operation: "test", reason: "rebalancing")])
    let runtime = try await WorkerProcess.runtime(
      Everything.self, configuration, fleet.policy, log: log, exchange: Apple(), metrics: fleet.metrics,
      decoder: Flaky(NotificationDecoder(verifier: fixtures.verifier, identities: configuration.identities)),
      credentials: credentials, clock: fleet.clock, logger: WorkerFleet.logger)
    runtimes.append(runtime)
    return FleetProcess(log: log, isKept: false) { _ in runtime }
  }

  private func put(_ type: NotificationTypeV2, _ subtype: Subtype? = nil) async throws -> ProducerRecord {
    let record = try await fixtures.next(SampleKind(type, subtype), signedDate: fleet.clock.wallTime).producerRecord
    try fleet.log.append(record)
    return record
  }

  private func outcomes() -> Set<String> {
    (try? ServedMetric.all(in: registry))?["millrace_worker_records_total"]?.values(of: "outcome") ?? []
  }

  private func kinds() -> Set<String> {
    (try? ServedMetric.all(in: registry))?["millrace_worker_rebalances_total"]?.values(of: "kind") ?? []
  }

  /// Runs handlers with every outcome, and makes a write to Kafka fail.
  func answerAndFail() async throws {
    let types: [(NotificationTypeV2, Subtype?)] =
      [
        (.expired, .voluntary), (.offerRedeemed, nil), (.gracePeriodExpired, nil), (.didChangeRenewalPref, nil),
        (.priceIncrease, .pending), (.subscribed, .initialBuy),
      ] + Array(repeating: (.didRenew, nil), count: 8)
    for (type, subtype) in types { _ = try await put(type, subtype) }
    var odd = fleet.record("odd", key: "odd")
    odd.headers = odd.headers.map {
      $0.name == "ce_type" ? RecordHeader("ce_type", "com.apple.appstore.notification.v2.SOMETHING_NEW") : $0
    }
    try fleet.log.append(odd)
    try fleet.log.append(ProducerRecord(topic: topics.operations, partition: 0, value: Array("{]".utf8)))
    process?.log.fail(
      .send, with: [KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)])
    // One record is a dead letter of its handler, one because it cannot be decoded.
    #expect(await fleet.until { Set(self.fleet.answered()).count == types.count - 1 && self.fleet.isRead() } != nil)
    // The timer of the EXPIRED notification fires.
    await fleet.until(within: .seconds(30), step: .milliseconds(100)) { false }
  }

  /// Causes every reason to skip a handler.
  func skip() async throws {
    let done = try await put(.expired, .voluntary)
    let dead = try await put(.gracePeriodExpired)
    let delayed = try await put(.didFailToRenew)
    let first = topics.retries[0]
    let before = fleet.log.records(in: first).count
    #expect(await fleet.until { self.fleet.log.records(in: first).count > before } != nil)
    for record in [done, dead, delayed] { try fleet.log.append(record) }
    #expect(
      await fleet.until {
        self.outcomes().isSuperset(of: ["skipped-duplicate", "skipped-dead", "skipped-delayed"])
      } != nil)
    // The first delayed copy arrives again while the record is delayed for the second time.
    let id = delayed.headers.first { $0.name == "ce_id" }
    let copy = try #require(fleet.log.records(in: first).last { $0.headers.contains { $0 == id } })
    #expect(
      await fleet.until {
        self.fleet.log.records(in: self.topics.retries[1]).contains { $0.headers.contains { $0 == id } }
      }
        != nil)
    try fleet.log.append(
      ProducerRecord(
        topic: first, partition: copy.partition, key: copy.key, value: copy.value, headers: copy.headers))
    #expect(await fleet.until { self.outcomes().contains("skipped-superseded") } != nil)
    #expect(await fleet.until { self.fleet.isRead() } != nil)
  }

  /// Replaces the client of the producer for every cause.
  func replaceClients() async throws {
    let faults: [(KafkaError.Code, isFatal: Bool, ReplaceableProducer.Cause)] = [
      (.fenced, true, .fenced), (.inDoubt, true, .fatal), (.timedOut, false, .unanswered),
    ]
    for (code, isFatal, cause) in faults {
      process?.log.fail(
        .sendOffsets,
        with: [KafkaError(code: code, operation: "test", reason: "test", requiresAbort: !isFatal, isFatal: isFatal)])
      _ = try await put(.didRenew)
      #expect(
        await fleet.until { self.fleet.replacements().keys.contains(cause.rawValue) && self.fleet.isRead() } != nil)
    }
  }

  /// Loses the producer in every way.
  func rejoin() async throws {
    let losses: [(KafkaError.Code, ProducerLoss.Reason)] = [
      (.fenced, .fenced), (.invalidTransactionState, .unclearCommit),
      (.fencedInstance, .fencedInstance),
    ]
    for (code, reason) in losses {
      process?.log.fail(
        .commitTransaction, with: [KafkaError(code: code, operation: "test", reason: "test", isFatal: true)])
      _ = try await put(.didRenew)
      #expect(await fleet.until { self.fleet.rejoins().keys.contains(reason.rawValue) && self.fleet.isRead() } != nil)
    }
    // After five clients in a row the worker rejoins.
    let failure = KafkaError(code: .inDoubt, operation: "test", reason: "test", isFatal: true)
    process?.log.fail(.sendOffsets, with: Array(repeating: failure, count: 6))
    _ = try await put(.didRenew)
    #expect(await fleet.until { self.fleet.rejoins().keys.contains("fatal") && self.fleet.isRead() } != nil)
  }

  /// Starts and crashes a second process, pauses the first beyond its session, and deletes unread records.
  func loseLanesAndRecords() async throws {
    let second = try await start("q")
    // Each process has to own a lane: one that still hands over its lanes has none to lose.
    #expect(await fleet.until { self.runtimes.suffix(2).allSatisfy { $0.readiness.owned == 1 } } != nil)
    #expect(kinds().contains("revoked"))
    await second.crash()
    #expect(await fleet.until(step: .milliseconds(200)) { self.runtimes[0].readiness.owned == 2 } != nil)
    process?.log.pause()
    await fleet.until(within: .seconds(15), step: .milliseconds(200)) { false }
    process?.log.resume()
    #expect(await fleet.until { self.kinds().contains("lost") } != nil)
    await process?.crash()
    let lane = TopicPartition(topic: WorkerFleet.live, partition: 0)
    let end = (fleet.log.records(in: WorkerFleet.live).last { $0.partition == 0 }?.offset ?? 0) + 1
    for number in 0..<3 {
      var record = fleet.record("lost\(number)", key: "k")
      record.partition = 0
      try fleet.log.append(record)
    }
    try fleet.log.trim(lane, before: end + 3)
    let third = try await start("r")
    #expect(
      await fleet.until(step: .milliseconds(200)) {
        (try? ServedMetric.all(in: self.registry))?["millrace_worker_records_lost_total"] != nil
      } != nil)
    // The worker measures lag every ten seconds.
    await fleet.until(within: .seconds(15), step: .milliseconds(200)) { false }
    await third.crash()
  }
}

/// A handler with an outcome of every kind.
private struct Everything: NotificationWorker {
  static let name = "mill"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  static func deadline(of envelope: NotificationEnvelope, receivedAt: Timestamp) -> Timestamp? {
    envelope.notificationType == NotificationTypeV2.priceIncrease.rawValue ? receivedAt + .seconds(100) : nil
  }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let answer = try Outcome.emit(FleetHandler.Answer(id: notification.id))
    switch notification.event {
    case .expired: return answer.settingTimer("soon", at: context.clock.wallTime + .seconds(5))
    case .didFailToRenew where context.attempt < 2: return .retry(because: "not-yet")
    case .offerRedeemed where context.attempt == 0: throw Trouble()
    case .gracePeriodExpired: return .deadLetter("no-use", "cannot be handled")
    // Longer than the handler timeout.
    case .didChangeRenewalPref where context.attempt == 0:
      try await context.clock.sleep(until: context.clock.now.advanced(by: .seconds(86_400)))
    // The retry runs in the last quarter before the deadline.
    case .priceIncrease where context.attempt == 0:
      return .retry(after: .seconds(80), because: "not-yet")
    case .didRenew:
      _ = try await context.appStore(for: notification.bundleId).requestTestNotification(in: .production)
    default: break
    }
    return answer
  }

  func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    guard context.attempt > 0 else { throw Trouble() }
    return .ignore
  }

  struct Trouble: Error {}
}

private struct Apple: HTTPExchange {
  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    ExchangeAnswer(
      status: 200, headers: ["Content-Type": "application/json"], body: Array(#"{"testNotificationToken":"1"}"#.utf8))
  }
}

/// A decoder for which the OCSP responder is unavailable at the first `SUBSCRIBED`.
private final class Flaky: NotificationDecoding {
  private let decoder: NotificationDecoder
  private let wasAway = Mutex(false)

  init(_ decoder: NotificationDecoder) { self.decoder = decoder }

  private func isFirst() -> Bool {
    wasAway.withLock { wasAway in
      defer { wasAway = true }
      return !wasAway
    }
  }

  func decode(
    _ record: ConsumerRecord, envelope: NotificationEnvelope, history: DeliveryHistory
  ) async throws(UndecodableRecord) -> AppStoreNotification {
    if envelope.notificationType == NotificationTypeV2.subscribed.rawValue, isFirst() {
      throw UndecodableRecord(reason: .unverified, description: "the responder is away", isTemporary: true)
    }
    return try await decoder.decode(record, envelope: envelope, history: history)
  }
}
