// Simulates a day of consumption requests. The provider is slow, unavailable for hours and sometimes wrong. Apple is
// unavailable for six hours. Some notifications arrive after half of the time, or close to its end. The checks do not
// depend on Apple's deduplication, because no response is lost.
//
// MILLRACE_CONSUMPTION_DAY sets the number of requests. scripts/scenario consumption-day runs the same day with real
// processes.

import AppStore
import AppStoreSigning
import MillraceTime
import Foundation
import KafkaClient
import MillraceTesting
import Synchronization
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Consumption
@testable import MillraceWorker

private let dayRequests = ProcessInfo.processInfo.environment["MILLRACE_CONSUMPTION_DAY"].flatMap { Int($0) } ?? 0

@Suite(
  .timeLimit(.minutes(10)), .serialized,
  .enabled(if: dayRequests > 0, "MILLRACE_CONSUMPTION_DAY sets the number of requests"))
struct ConsumptionDayTests {
  /// The team's answer about a customer.
  private enum Customer: Sendable {
    case consents, refuses, isUnknown
    /// The team's system fails on every question about the customer.
    case breaksTheSystem
  }

  private struct Request: Sendable {
    var id: Int64
    var customer: Customer
    var asked: Duration
    /// The time from the signature to the receipt.
    var travel: Duration
    var version1: Bool
  }

  /// The same requests for the same seed, regardless of the number of workers.
  private static func requests(_ seed: UInt64, on stage: ConsumptionStage) throws -> [Request] {
    var random = SeededGenerator(seed: seed)
    let products = [ConsumptionStage.coins, ConsumptionStage.coins, ConsumptionStage.premium, ConsumptionStage.level]
    return try (0..<dayRequests).map { number in
      let product = products[Int.random(in: 0..<products.count, using: &random)]
      let id = try stage.buy(product, token: random.uuid())
      let customer: Customer =
        switch Int.random(in: 0..<100, using: &random) {
        case _ where number % 25 == 24: .breaksTheSystem
        case ..<10: .refuses
        case ..<15: .isUnknown
        default: .consents
        }
      // Usually Apple's first attempt. The second is an hour later, and the third after twelve hours, which is almost
      // too late.
      let travel: Duration =
        switch Int.random(in: 0..<100, using: &random) {
        case _ where number % 25 == 24: .zero
        case ..<3: .seconds(11 * 3_600 + 3_000 + Int64.random(in: 0..<900, using: &random))
        case ..<8: .seconds(3_600)
        default: .zero
        }
      return Request(
        id: id, customer: customer, asked: .seconds(Int64.random(in: 60..<86_400, using: &random)), travel: travel,
        version1: product == ConsumptionStage.coins && Int.random(in: 0..<4, using: &random) == 0)
    }.sorted { $0.asked < $1.asked }
  }

  /// The team's system is always slow, unavailable from the third hour to the eighth, and sometimes wrong.
  private static func serve(_ requests: [Request], _ seed: UInt64, on stage: ConsumptionStage) {
    let customers = Dictionary(uniqueKeysWithValues: requests.map { ("\($0.id)", $0.customer) })
    let (clock, began) = (stage.clock, stage.now)
    stage.team.answers { post in
      let hour = (clock.wallTime - began) / .seconds(3_600)
      var random = SeededGenerator(seed: seed ^ (UInt64(post.transaction) ?? 0) &+ UInt64(post.tries) &* 7_919)
      let slow = Duration.milliseconds(Int64.random(in: 200...4_000, using: &random))
      if (3..<8).contains(hour) { return post.tries.isMultiple(of: 2) ? nil : .status(503, after: slow) }
      switch customers[post.transaction] {
      case nil, .isUnknown?: return .status(204, after: slow)
      case .refuses?: return .status(409, after: slow)
      case .breaksTheSystem?: return .status(500, after: slow)
      case .consents?: break
      }
      // At most two wrong answers per question, because the test covers recovery and not permanent failure.
      switch post.tries < 2 ? Int.random(in: 0..<20, using: &random) : 20 {
      case 0: return .status(200, "<html>oops</html>", after: slow)
      case 1: return .status(200, #"{"customerConsented":true,"deliveryStatus":"SOON"}"#, after: slow)
      case 2: return .status(429, after: slow)
      // Slower than the provider's timeout.
      case 3: return .status(200, TeamSystem.consented, after: .seconds(30))
      default: return .status(200, TeamSystem.consented, after: slow)
      }
    }
  }

  private struct Result: Sendable {
    var stage: ConsumptionStage
    var requests: [Request]
    var began: Timestamp
    var seconds: Double
  }

  private static func day(_ seed: UInt64, workers: Int) async throws -> Result {
    let stage = try ConsumptionStage(lanes: 4, seed: seed)
    let requests = try requests(seed, on: stage)
    let began = stage.now
    serve(requests, seed, on: stage)
    stage.fault(.failure(status: 503, body: .html), from: .seconds(10 * 3_600), for: .seconds(6 * 3_600))
    let start = ContinuousClock.now
    try await stage.running(workers) {
      let day = Day(requests, on: stage)
      try await stage.pass(.seconds(37 * 3_600), step: .seconds(120)) { try day.goOn() }
    }
    return Result(
      stage: stage, requests: requests, began: began,
      seconds: start.duration(to: ContinuousClock.now) / .seconds(1))
  }

  /// Delivers each request when it is due.
  private final class Day: Sendable {
    private let stage: ConsumptionStage
    private let began: Timestamp
    private let open: Mutex<(asked: ArraySlice<Request>, under: [(at: Timestamp, records: [ProducerRecord])])>

    init(_ requests: [Request], on stage: ConsumptionStage) {
      self.stage = stage
      began = stage.now
      open = Mutex((requests[...], []))
    }

    func goOn() throws {
      try open.withLock { open in
        while let next = open.asked.first, began + next.asked <= stage.now {
          open.asked = open.asked.dropFirst()
          try stage.askBack(next.id)
          open.under.append((stage.now + next.travel, try stage.told(version1: next.version1)))
        }
        let due = open.under.filter { $0.at <= stage.now }
        open.under.removeAll { $0.at <= stage.now }
        for record in due.flatMap(\.records) { try stage.log.append(record) }
      }
    }
  }

  @Test(arguments: [UInt64(20_261_121)])
  func `consented requests are answered in time, no other is sent, and every risk is announced`(
    seed: UInt64
  ) async throws {
    let one = try await Self.day(seed, workers: 1)
    let two = try await Self.day(seed, workers: 2)
    for (name, result) in [("one worker", one), ("two workers", two)] {
      try Self.check(result, "seed \(seed), \(name)")
      let figures = try Self.figures(result)
      print("consumption day: \(name), seed \(seed): \(figures)")
    }
    #expect(try Self.ends(one) == Self.ends(two), "seed \(seed)")
  }

  /// The result of each purchase.
  private static func ends(_ result: Result) throws -> [String: String] {
    let ends = try result.stage.events().filter { $0.name != "consumption.at-risk" }
    return Dictionary(ends.map { ($0.transaction, $0.name) }) { "\($0), \($1)" }
  }

  private static func check(_ result: Result, _ name: String) throws {
    try result.stage.checkEvents()
    let events = try result.stage.events()
    let ends = try ends(result)
    #expect(ends.count == result.requests.count, "\(name)")
    #expect(result.stage.deadLetters().isEmpty, "\(name)")
    var late = 0
    for request in result.requests {
      let end = ends["\(request.id)"]
      switch request.customer {
      case .consents: #expect(end == "consumption.sent", "\(name): \(request)")
      case .refuses, .isUnknown: #expect(end == "consumption.withheld", "\(name): \(request)")
      case .breaksTheSystem: #expect(end == "consumption.expired", "\(name): \(request)")
      }
      let timeline = events.filter { $0.transaction == "\(request.id)" }
      for (place, event) in timeline.enumerated() {
        let received = result.began + request.asked + request.travel
        switch event.name {
        case "consumption.sent":
          // Apple counts from its receipt.
          #expect(event.at <= received + .seconds(43_200), "\(name): \(request)")
          guard event.data["lateBySeconds"] != nil else { continue }
          late += 1
          #expect(request.travel > .seconds(3_600), "\(name): late without a reason: \(request)")
          fallthrough
        case "consumption.expired":
          // All have one key, so the events are in order.
          let risks = timeline.prefix(place).filter { $0.name == "consumption.at-risk" }
          #expect(risks.count == 1, "\(name): \(request) was not announced exactly once")
          #expect(risks.allSatisfy(Self.isForetold), "\(name): \(request) was announced too late")
        default: break
        }
      }
    }
    let consenting = Set(result.requests.filter { $0.customer == .consents }.map { "\($0.id)" })
    let sent = Set(result.stage.appStore.asked.compactMap { $0.split(separator: "/").last.map(String.init) })
    #expect(sent == consenting, "\(name): data was sent without consent")
    let broken = result.stage.services.report.broken
    #expect(broken.allSatisfy { $0.rule == .consumptionLate && $0.count == late }, "\(name): \(broken)")
  }

  /// Whether there was time left, or the worker was so far behind that there was none.
  private static func isForetold(_ risk: StagedEvent) -> Bool {
    if risk.data["reason"] == "lag" { return true }
    guard case .integer(let left)? = risk.data["remainingSeconds"] else { return false }
    return left > 0
  }

  private static func figures(_ result: Result) throws -> String {
    let events = Dictionary(grouping: try result.stage.events(), by: \.name)
    let late = events["consumption.sent"]?.count { $0.data["lateBySeconds"] != nil } ?? 0
    let asked = result.stage.services.report.asked
    let fullest = asked.flatMap(\.fullestHours).max { $0.admitted < $1.admitted }
    let counts = events.map { "\($0.value.count) \($0.key.dropFirst("consumption.".count))" }.sorted()
    return """
      \(result.requests.count) requests: \(counts.joined(separator: ", ")) (\(late) late by their signature); \
      \(result.stage.team.posts.count) questions, \(result.stage.calls) calls to Apple, in the fullest hour \
      \(fullest?.admitted ?? 0) of \(fullest?.limit ?? 0); 37 h in \((result.seconds * 10).rounded() / 10) s
      """
  }
}
