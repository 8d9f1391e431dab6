// The stage of the consumption worker: besides the simulated App Store there is a team's own system. Handlers wait for
// virtual time while the team's system delays its answers.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import KafkaClient
import MillraceTesting
import MillraceTime
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Consumption
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

typealias ConsumptionStage = WorkerStage<ConsumptionWorker, Switchboard>

extension ConsumptionStage {
  static var coins: String { "com.example.app.coins" }
  static var premium: String { "com.example.app.premium" }
  static var level: String { "com.example.app.level" }
  static var secret: String { "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }

  var team: TeamSystem { network.team }

  convenience init(lanes: Int = 2, seed: UInt64 = 1, _ change: (inout ConsumptionSettings) -> Void = { _ in }) throws {
    var simulator = SimulatorSettings()
    simulator.seed = seed
    let products = [
      Product(productId: Self.coins, type: .consumable), Product(productId: Self.premium),
      Product(productId: Self.level, type: .nonConsumable),
    ]
    let store = try StagedAppStore(products: products, settings: simulator)
    var settings = ConsumptionSettings()
    settings.providers = [.http]
    settings.http.url = TeamSystem.url
    settings.http.secretFiles = [try store.file("secret", Array(Self.secret.utf8))]
    change(&settings)
    try self.init(
      store, network: Switchboard(team: TeamSystem(), apple: store.exchange, clock: store.clock),
      family: .consumptionRequests, lanes: lanes, settings: settings
    ) { configuration in
      // A step of time can be longer than the timeout of a transaction.
      configuration.kafka.commit = .atLeastOnce
    } topics: { topics in
      // Deliberately not the number of lanes: a team's answers have other keys.
      topics[ConsumptionSettings.answersTopic] = 3
    }
  }
}

// Customers and Apple.
extension ConsumptionStage {
  /// Buys a product.
  func buy(_ product: String = coins, token: String? = nil) throws -> Int64 {
    try purchase(product, token: token.map { try #require(CompactUUID($0)) }, at: now)
  }

  /// Requests a refund. Apple has not posted a notification yet.
  func askBack(_ id: Int64, _ reason: ConsumptionRequestReason = .unintendedPurchase) throws {
    try services.customerAsksForRefund(of: id, reason: reason, at: now)
  }

  /// Returns Apple's pending consumption notifications as records.
  func told(version1: Bool = false) throws -> [ProducerRecord] {
    try takePending().filter { $0.facts.kind.type == .consumptionRequest }.map { entry in
      if version1, let record = try v1(entry) { return record }
      return try v2(entry)
    }
  }

  /// Writes Apple's pending notifications to the log.
  func deliver(version1: Bool = false) throws {
    for record in try told(version1: version1) { try log.append(record) }
  }

  /// Writes a team's stored answer to the answers topic.
  func write(_ answer: String?, for key: String) throws {
    try log.append(
      ProducerRecord(
        topic: ConsumptionSettings.answersTopic, key: Array(key.utf8), value: answer.map { Array($0.utf8) }))
  }

  /// The number of calls of Send Consumption Information, in either version.
  var calls: Int {
    appStore.calls(to: "PUT /inApps/v2/transactions/consumption")
      + appStore.calls(to: "PUT /inApps/v1/transactions/consumption")
  }

  /// Injects a fault for `length` of the test's time, which also passes until the workers have their lanes. A short
  /// fault therefore begins inside `running`.
  func fault(_ effect: FaultEffect, from: Duration = .zero, for length: Duration, share: Double = 1) {
    services.inject(
      Fault(
        effect, endpoints: [.sendConsumptionInformation, .sendConsumptionInformationV1], from: now + from,
        until: now + from + length, share: share))
  }
}

// Time.
extension ConsumptionStage {
  /// Waits until all records are read and every handler waits for virtual time. Virtual time must not advance while the
  /// machine is busy, or time limits would end calls that make progress.
  func calm() async throws { try await awaitRest(sleeping: { self.team.asleep(at: self.clock.now) }) }

  /// Advances time in steps, and lets the workers settle after each.
  func pass(_ duration: Duration, step: Duration = .seconds(60), each: () throws -> Void = {}) async throws {
    try await calm()
    let end = clock.now.advanced(by: duration)
    while clock.now < end {
      // Rate-limit slots and slow answers follow each other.
      let isWaiting = team.asleep(at: clock.now) > 0 || living.contains { $0.runtime.callersInLine > 0 }
      let next = isWaiting ? min(step, .milliseconds(500)) : step
      try passTime(min(next, clock.now.duration(to: end)))
      try each()
      try await calm()
    }
  }
}

extension WorkerRuntime {
  /// The number of callers that wait for a rate-limit slot.
  fileprivate var callersInLine: Int {
    Int(
      collectors.filter { $0.name == "millrace_api_callers_waiting" }.flatMap { $0.collect() }
        .reduce(0) { $0 + $1.value })
  }
}

// Results.
extension StagedEvent {
  var notification: String { purchase?["notificationUUID"]?.text ?? "" }
  var transaction: String { purchase?["transactionId"]?.text ?? "" }
  private var purchase: JSONObject? { if case .object(let purchase)? = data["purchase"] { purchase } else { nil } }
}

extension ConsumptionStage {
  /// Whether the ledger contains an answer of the team.
  var keepsAnswers: Bool {
    let values = log.records(in: topics.ledger).reduce(into: [[UInt8]?: [UInt8]]()) { $0[$1.key] = $1.value }
    return values.values.contains { String(decoding: $0, as: UTF8.self).contains("deliveryStatus") }
  }

  /// Checks what must hold after every run.
  func checkEvents(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let events = try events()
    #expect(Set(events.map(\.id)).count == events.count, "an event is there twice", sourceLocation: sourceLocation)
    for event in events {
      let problems = try SchemaCheck(event.name).problems(.object(event.data))
      #expect(problems.isEmpty, "\(event.name): \(problems)", sourceLocation: sourceLocation)
    }
  }
}
