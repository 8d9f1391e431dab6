// Everything that a worker has a metric for, made to happen to one over the log in memory.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import Clocks
import Kafka
import Logging
import MillraceTesting
import Synchronization
import Testing

@testable import Millrace

/// A worker over the log in memory, and what happens to it.
final class MetricsMill {
  private let mill: Mill
  private let configuration: MillraceConfiguration
  private let credentials: [String: APICredentials]
  private var fixtures: NotificationFixtures
  private let heartbeat: Heartbeat
  private var process: MillProcess?
  /// Kept, as is the heartbeat, for what they can use of Apple's limits is asked for at each reading.
  private(set) var runtimes: [WorkerRuntime] = []

  var registry: PrometheusRegistry { mill.metrics }
  var topics: WorkerTopics { mill.topics }

  init() async throws {
    mill = try Mill(lanes: 2) { $0.handlerTimeout = .seconds(30) }
    heartbeat = WorkerProcess.heartbeat(of: [], clock: mill.clock)
    fixtures = try NotificationFixtures(from: mill.clock.wallTime, seed: 1)
    var configuration = MillraceConfiguration()
    configuration.apps = [fixtures.appSettings()]
    self.configuration = configuration
    credentials = try fixtures.credentials()
    process = try await start("p")
    for collector in runtimes.flatMap(\.collectors) { registry.add(collector) }
    registry.add(heartbeat.collector)
    // The log in memory has no clients of Kafka; theirs report so.
    let observer = ClientObserver.reporting(
      client: "reader", to: Logger(label: "clients") { _ in SwiftLogNoOpLogHandler() }, metrics: registry)
    observer.error(KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true))
    observer.statistics(try KafkaStatistics(document: "{}"))
  }

  private func start(_ name: String) async throws -> MillProcess {
    let log = mill.log.process(name)
    let runtime = try await WorkerProcess.runtime(
      Everything.self, configuration, mill.policy, log: log, exchange: Apple(), metrics: mill.metrics,
      decoder: Flaky(NotificationDecoder(verifier: fixtures.verifier, identities: configuration.identities)),
      credentials: credentials, clock: mill.clock, logger: Mill.logger)
    runtimes.append(runtime)
    return MillProcess(log: log, isKept: false) { _ in runtime }
  }

  private func put(_ type: NotificationTypeV2, _ subtype: Subtype? = nil) async throws -> ProducerRecord {
    let record = try await fixtures.next(SampleKind(type, subtype), signedDate: mill.clock.wallTime).producerRecord
    try mill.log.append(record)
    return record
  }

  private func outcomes() -> Set<String> {
    (try? ServedMetric.all(in: registry))?["millrace_worker_records_total"]?.values(of: "outcome") ?? []
  }

  private func kinds() -> Set<String> {
    (try? ServedMetric.all(in: registry))?["millrace_worker_rebalances_total"]?.values(of: "kind") ?? []
  }

  /// Everything that a handler can do, and Kafka refusing a commit.
  func answerAndFail() async throws {
    let types: [(NotificationTypeV2, Subtype?)] =
      [
        (.expired, .voluntary), (.offerRedeemed, nil), (.gracePeriodExpired, nil), (.didChangeRenewalPref, nil),
        (.priceIncrease, .pending), (.subscribed, .initialBuy),
      ] + Array(repeating: (.didRenew, nil), count: 8)
    for (type, subtype) in types { _ = try await put(type, subtype) }
    var odd = mill.record("odd", key: "odd")
    odd.headers = odd.headers.map {
      $0.name == "ce_type" ? RecordHeader("ce_type", "com.apple.appstore.notification.v2.SOMETHING_NEW") : $0
    }
    try mill.log.append(odd)
    try mill.log.append(ProducerRecord(topic: topics.operations, partition: 0, value: Array("{]".utf8)))
    process?.log.fail(
      .send, with: [KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)])
    // One is dead of its handler, and one because nobody can read it.
    #expect(await mill.until { Set(self.mill.answered()).count == types.count - 1 && self.mill.isRead() } != nil)
    // Its timer.
    await mill.until(within: .seconds(30), step: .milliseconds(100)) { false }
  }

  /// Every reason not to run a handler.
  func skip() async throws {
    let done = try await put(.expired, .voluntary)
    let dead = try await put(.gracePeriodExpired)
    let parked = try await put(.didFailToRenew)
    let first = topics.retries[0]
    let before = mill.log.records(in: first).count
    #expect(await mill.until { self.mill.log.records(in: first).count > before } != nil)
    for record in [done, dead, parked] { try mill.log.append(record) }
    #expect(
      await mill.until {
        self.outcomes().isSuperset(of: ["skipped-duplicate", "skipped-dead", "skipped-parked"])
      } != nil)
    // What it was parked as first comes once more, while it waits for the second time.
    let id = parked.headers.first { $0.name == "ce_id" }
    let copy = try #require(mill.log.records(in: first).last { $0.headers.contains { $0 == id } })
    #expect(
      await mill.until {
        self.mill.log.records(in: self.topics.retries[1]).contains { $0.headers.contains { $0 == id } }
      }
        != nil)
    try mill.log.append(
      ProducerRecord(
        topic: first, partition: copy.partition, key: copy.key, value: copy.value, headers: copy.headers))
    #expect(await mill.until { self.outcomes().contains("skipped-superseded") } != nil)
    #expect(await mill.until { self.mill.isRead() } != nil)
  }

  /// A second process that comes and dies, a first that is silent too long, and retention that is too short.
  func loseLanesAndRecords() async throws {
    let second = try await start("q")
    #expect(await mill.until { self.kinds().contains("revoked") } != nil)
    await second.crash()
    #expect(await mill.until(step: .milliseconds(200)) { self.runtimes[0].readiness.owned == 2 } != nil)
    process?.log.pause()
    await mill.until(within: .seconds(15), step: .milliseconds(200)) { false }
    process?.log.resume()
    #expect(await mill.until { self.kinds().contains("lost") } != nil)
    await process?.crash()
    let lane = TopicPartition(topic: Mill.live, partition: 0)
    let end = (mill.log.records(in: Mill.live).last { $0.partition == 0 }?.offset ?? 0) + 1
    for number in 0..<3 {
      var record = mill.record("lost\(number)", key: "k")
      record.partition = 0
      try mill.log.append(record)
    }
    try mill.log.trim(lane, before: end + 3)
    let third = try await start("r")
    #expect(
      await mill.until(step: .milliseconds(200)) {
        (try? ServedMetric.all(in: self.registry))?["millrace_worker_records_lost_total"] != nil
      } != nil)
    // Lag is measured every ten seconds.
    await mill.until(within: .seconds(15), step: .milliseconds(200)) { false }
    await third.crash()
  }
}

/// Meets everything that a handler can meet.
private struct Everything: NotificationWorker {
  static let name = "mill"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  static func deadline(of envelope: NotificationEnvelope, receivedAt: Timestamp) -> Timestamp? {
    envelope.notificationType == NotificationTypeV2.priceIncrease.rawValue ? receivedAt + .seconds(100) : nil
  }

  func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome {
    let answer = try Outcome.emit(MillHandler.Answer(id: notification.id))
    switch notification.event {
    case .expired: return answer.settingTimer("soon", at: context.clock.wallTime + .seconds(5))
    case .didFailToRenew where context.attempt < 2: throw RetryableFailure("not yet", code: "not-yet")
    case .offerRedeemed where context.attempt == 0: throw Trouble()
    case .gracePeriodExpired: throw PermanentFailure("no-use", "cannot be handled")
    // Beyond its limit.
    case .didChangeRenewalPref where context.attempt == 0:
      try await context.clock.sleep(until: context.clock.now.advanced(by: .seconds(86_400)))
    // Into the last quarter of its time.
    case .priceIncrease where context.attempt == 0:
      throw RetryableFailure("not yet", after: .seconds(80), code: "not-yet")
    case .didRenew:
      _ = try await context.appStore(for: notification.bundleId).requestTestNotification(in: .production)
    default: break
    }
    return answer
  }

  struct Trouble: Error {}
}

private struct Apple: HTTPExchange {
  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    ExchangeAnswer(
      status: 200, headers: ["Content-Type": "application/json"], body: Array(#"{"testNotificationToken":"1"}"#.utf8))
  }
}

/// Whom revocation is asked of is away when the first SUBSCRIBED comes.
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
    _ record: ConsumerRecord, envelope: NotificationEnvelope, provenance: Provenance
  ) async throws(UndecodableRecord) -> Notification {
    if envelope.notificationType == NotificationTypeV2.subscribed.rawValue, isFirst() {
      throw UndecodableRecord(reason: .unverified, description: "the responder is away", isTemporary: true)
    }
    return try await decoder.decode(record, envelope: envelope, provenance: provenance)
  }
}
