// Tests that a 429 for one process stops the calls of all processes.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import MillraceTime
import CoreMetrics
import KafkaClient
import MillraceTesting
import Synchronization
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct PauseChannelTests {
  /// Makes one call for each notification.
  private struct Caller: NotificationWorker {
    static let name = "mill"
    static let families: Set<NotificationFamily> = [.subscriptions]

    init(_ setup: WorkerSetup) {}

    func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
      _ = try await context.appStore(for: notification.bundleId).requestTestNotification(in: .production)
      return try .emit(FleetHandler.Answer(id: notification.id))
    }
  }

  /// A server that answers the first call with 429 and later calls with success.
  private final class Apple: HTTPExchange {
    let calls = Mutex<[Timestamp]>([])
    let clock: MillraceClock
    let until: Timestamp

    init(_ clock: MillraceClock, until: Timestamp) {
      self.clock = clock
      self.until = until
    }

    func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
      let isFirst = calls.withLock { calls in
        calls.append(clock.wallTime)
        return calls.count == 1
      }
      guard isFirst else {
        return ExchangeAnswer(
          status: 200, headers: ["Content-Type": "application/json"],
          body: Array(#"{"testNotificationToken":"1"}"#.utf8))
      }
      return ExchangeAnswer(
        status: 429, headers: ["Retry-After": "\(until.millisecondsSince1970)"],
        body: Array(#"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#.utf8))
    }
  }

  private func isPaused(_ runtime: WorkerRuntime) -> Bool {
    runtime.collectors.contains { $0.name == "millrace_api_paused" && $0.collect().contains { $0.value == 1 } }
  }

  @Test func `a 429 for one process stops the calls of another until the time that Apple names`() async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let clock = fleet.time.clock
    var fixtures = try NotificationFixtures(from: clock.wallTime, seed: 1)
    let until = clock.wallTime + .seconds(90)
    let apple = Apple(clock, until: until)
    var configuration = MillraceConfiguration()
    configuration.apps = [fixtures.appSettings()]
    let credentials = try fixtures.credentials()
    var runtimes: [WorkerRuntime] = []
    var processes: [FleetProcess] = []
    for name in ["p", "q"] {
      let log = fleet.log.process(name)
      let runtime = try await WorkerProcess.runtime(
        Caller.self, configuration, fleet.policy, log: log, exchange: apple, metrics: NOOPMetricsHandler.instance,
        verifier: fixtures.verifier, credentials: credentials, clock: clock, logger: WorkerFleet.logger)
      runtimes.append(runtime)
      processes.append(FleetProcess(log: log, isKept: false) { _ in runtime })
    }
    #expect(await fleet.until { runtimes.allSatisfy { $0.readiness.isReady && $0.readiness.owned == 1 } } != nil)

    func put(lane: Int32) async throws {
      var record = try await fixtures.next(SampleKind(.didRenew)).producerRecord
      record.partition = lane
      try fleet.log.append(record)
    }
    try await put(lane: 0)
    #expect(await fleet.until { fleet.log.records(in: fleet.topics.control).count == 1 } != nil)
    // Malformed records and records of a newer version have no effect.
    for text in ["{", #"{"kind":"pause"}"#, #"{"kind":"news"}"#] {
      try fleet.log.append(ProducerRecord(topic: fleet.topics.control, partition: 0, value: Array(text.utf8)))
    }
    #expect(await fleet.until { runtimes.allSatisfy { isPaused($0) } } != nil)
    for number in 0..<10 { try await put(lane: number.isMultiple(of: 2) ? 0 : 1) }
    func delayed() -> [ConsumerRecord] { fleet.topics.retries.flatMap { fleet.log.records(in: $0) } }
    #expect(await fleet.until { Set(delayed().map { WorkerFleet.header("ce_id", of: $0) }).count == 11 } != nil)
    #expect(delayed().allSatisfy { DeliveryHistory($0).due.map { $0 >= until } ?? false })
    #expect(apple.calls.withLock { $0.count } == 1)
    #expect(await fleet.until(step: .milliseconds(100)) { fleet.answered().count == 11 } != nil)
    let later = apple.calls.withLock { $0.dropFirst() }
    #expect(later.allSatisfy { $0 >= until } && later.count == 11)
    #expect(fleet.dead().isEmpty)
    for process in processes { await process.crash() }
  }

  @Test(arguments: [
    ("[1]", "JSON object"), ("\u{FF}", "JSON object"), ("{}", "kind"), (#"{"kind":7}"#, "kind"),
    (#"{"kind":"pause","bundleId":"a","environment":"Production","endpoint":"x"}"#, "until"),
  ])
  func `the error for a malformed pause names the problem`(text: String, problem: String) {
    #expect { try PauseChannel.pause(from: Array(text.utf8)) } throws: { "\($0)".contains(problem) }
  }

  @Test func `a pause is read as it was written, and records of a newer version are ignored`() throws {
    let pause = BudgetPause(
      BudgetKey(bundleId: "a", environment: .sandbox, endpoint: .lookUpOrderId),
      until: Timestamp(millisecondsSince1970: 5))
    let text = PauseChannel.text(of: pause).serialized()
    #expect(try PauseChannel.pause(from: text) == pause)
    let newer = String(decoding: text, as: UTF8.self)
    for (from, to) in [("\"pause\"", "\"news\""), (APIEndpoint.lookUpOrderId.rawValue, "somethingNew")] {
      #expect(try PauseChannel.pause(from: Array(newer.replacing(from, with: to).utf8)) == nil)
    }
  }
}
