// Measures the delay of one app's notifications while a million of another app's wait for calls to Apple.
import AppStore
import AppStoreServerAPI
import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceWorker
@_spi(Measurement) import MillraceTesting
import Synchronization

/// Calls Apple for each notification of one app, and handles the others at once.
struct WaitingWorker: NotificationWorker {
  static let name = "waiting"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let waitingApp = "com.example.waiting"
  static let servedApp = "com.example.served"
  static let seen = Mutex(Seen())

  struct Seen {
    /// Which records of the waiting app were tried.
    var known: [Bool] = []
    var knownCount = 0
    var tries = 0
    /// The handling times of the other app's records.
    var served: [String: ContinuousClock.Instant] = [:]
  }

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    guard notification.bundleId == Self.waitingApp else {
      Self.seen.withLock { $0.served[notification.id] = .now }
      return .ignore
    }
    Self.seen.withLock { seen in
      seen.tries += 1
      guard let number = Int(notification.key.dropFirst()), seen.known.indices.contains(number - 1),
        !seen.known[number - 1]
      else { return }
      seen.known[number - 1] = true
      seen.knownCount += 1
    }
    _ = try await context.appStore(for: notification.bundleId).extendSubscriptionRenewalDate(
      notification.key,
      ExtendRenewalDateRequest(extendByDays: 1, extendReasonCode: .customerSatisfaction, requestIdentifier: "bench"),
      in: .production)
    return .ignore
  }
}

/// Accepts every extension at once.
private struct ExtendingAppStore: HTTPExchange {
  static let calls = Atomic(0)

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    Self.calls.add(1, ordering: .relaxed)
    return ExchangeAnswer(
      status: 200, headers: ["Content-Type": "application/json"],
      body: Array(#"{"success":true,"originalTransactionId":"1","effectiveDate":1767225600000}"#.utf8))
  }
}

/// Gives a worker a backlog that has to wait for rate-limit slots, and measures the delay of another app.
struct WaitingStage {
  let lanes: Int

  /// Refused records return within ten minutes. At this rate they return within a run, ten times as densely. The delay
  /// of the other app is measured in real time.
  static let rate = 10.0
  private static let interval = Duration.milliseconds(250)

  /// Uses an in-memory log, so that nothing else affects the result.
  func run(_ count: Int) async throws -> WaitingResult {
    WaitingWorker.seen.withLock { $0.known = [Bool](repeating: false, count: count) }
    let clock = MillraceClock(origin: nil, rate: Self.rate)
    let log = InMemoryLog(clock: clock)
    let policy = WaitingWorker.policy
    let topics = WorkerTopics(
      worker: WaitingWorker.name, inputs: [ConsumeStage.topic], delays: policy.retryDelays, prefix: "")
    for name in Set(topics.laneTopics) { try log.createTopic(name, partitions: lanes) }
    for name in Set(topics.others) { try log.createTopic(name, partitions: 1) }
    var fixtures = try NotificationFixtures(from: clock.wallTime, seed: 1)
    var records = UnsignedRecords(
      try await fixtures.next(SampleKind(.didRenew)).producerRecord, topic: ConsumeStage.topic, lanes: lanes)
    for first in stride(from: 0, to: count, by: 20_000) {
      for record in records.next(min(20_000, count - first), bytes: 1_000) {
        try log.append(record.of(WaitingWorker.waitingApp))
      }
    }
    var configuration = MillraceConfiguration()
    var app = AppSettings()
    app.bundleId = WaitingWorker.waitingApp
    app.environments = [.production]
    configuration.apps = [app]
    let worker = try await MeasuredWorker(
      WaitingWorker.self, configuration, policy, log: log, verifier: nil, appStore: ExtendingAppStore(),
      clock: clock, logger: ConsumeBenchmark.logger)
    return try await worker.running { _ in
      try await untilAllWait(count)
      return try await probe(count, log, &records)
    }
  }

  /// Waits until each record was tried and refused, except the few that got a slot.
  private func untilAllWait(_ count: Int) async throws {
    var (last, heard) = (0, ContinuousClock.now)
    while last < count {
      try await Task.sleep(for: .milliseconds(100))
      let known = WaitingWorker.seen.withLock(\.knownCount)
      if known > last { (last, heard) = (known, .now) }
      guard heard.duration(to: .now) < .seconds(60) else { throw BenchError("\(count - last) were never tried") }
    }
  }

  /// Measures until as many records returned as wait.
  private func probe(_ count: Int, _ log: InMemoryLog, _ records: inout UnsignedRecords) async throws -> WaitingResult {
    var waits: [Double] = []
    let start = ContinuousClock.now
    let (tries, calls) = (WaitingWorker.seen.withLock(\.tries), ExtendingAppStore.calls.load(ordering: .relaxed))
    var returned = 0
    while returned < count {
      try await Task.sleep(until: start + Self.interval * waits.count, clock: .continuous)
      guard var record = records.next(1, bytes: 1_000).first?.of(WaitingWorker.servedApp) else { continue }
      record.partition = Int32(waits.count % lanes)
      let put = ContinuousClock.now
      try log.append(record)
      waits.append(try await served(record, since: put) / .milliseconds(1))
      returned = WaitingWorker.seen.withLock(\.tries) - tries
      guard start.duration(to: .now) < .seconds(600) else { throw BenchError("\(count - returned) did not return") }
    }
    let seconds = start.duration(to: .now) / .seconds(1)
    return WaitingResult(
      waiting: count, waits: waits, triesPerSecond: Double(returned) / seconds,
      callsPerSecond: Double(ExtendingAppStore.calls.load(ordering: .relaxed) - calls) / seconds)
  }

  private func served(_ record: ProducerRecord, since put: ContinuousClock.Instant) async throws -> Duration {
    let id = record.headers.last { $0.name == "ce_id" }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
    while true {
      if let time = WaitingWorker.seen.withLock({ $0.served[id] }) { return put.duration(to: time) }
      guard put.duration(to: .now) < .seconds(60) else { throw BenchError("\(id) was not handled within a minute") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

extension ProducerRecord {
  /// This record for another app.
  fileprivate func of(_ bundleId: String) -> ProducerRecord {
    var record = self
    record.headers = record.headers.map {
      $0.name == "ce_source" ? RecordHeader("ce_source", "appstore/Production/\(bundleId)") : $0
    }
    return record
  }
}

/// The delay of one app behind another.
struct WaitingResult {
  /// The number of waiting records of the other app.
  var waiting: Int
  /// The delay from writing a record to its handler, in milliseconds.
  var waits: [Double]
  /// The waiting app's records that returned meanwhile, per second.
  var triesPerSecond: Double
  /// The calls that got a slot, per second.
  var callsPerSecond: Double
}
