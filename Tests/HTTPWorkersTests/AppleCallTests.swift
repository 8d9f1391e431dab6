// Calls to Apple that an endpoint orders, with the simulator as Apple.

import AppStore
import AppStoreServerAPI
import AppStoreSignature
import AppStoreSigning
import CoreMetrics
import Foundation
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceTime
import Synchronization
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import HTTPWorkers
@testable import MillraceWorker

/// A worker `winback`, an endpoint, and a simulated App Store with one subscription.
private final class CallStage: Sendable {
  static let bundleId = "com.example.app"

  let time: ManualClock
  let services: APIServices
  let apple: SimulatedExchange
  let log: InMemoryLog
  let topics: WorkerTopics
  /// The original transaction of the subscription.
  let subscription: String
  private let store: StagedAppStore
  private let configuration: MillraceConfiguration
  private let identity: WorkerIdentity
  private let policy: WorkerPolicy
  private let router: NotificationRouter
  private let samples: Mutex<SampleNotifications>
  private let folder: TestFolder
  private let runtime = Mutex<WorkerRuntime?>(nil)

  init(_ change: (inout WorkerEntry) -> Void = { _ in }) throws {
    var settings = SimulatorSettings()
    settings.seed = 1
    // Only Millrace prevents that an effect is caused twice.
    settings.requestMemory = .nothing
    let monthly = "com.example.app.monthly"
    store = try StagedAppStore(products: [Product(productId: monthly)], settings: settings)
    time = store.time
    services = store.services
    apple = store.exchange
    let now = time.clock.wallTime
    subscription = try store.world.withState { state throws(WorldError) in
      try state.settle(
        Scenario.Population(
          bundleId: Self.bundleId, environment: .production, count: 1, products: [monthly], storefronts: ["USA"],
          ownership: .purchased, family: 0), at: now)
      return String(state.subscriptions.keys.first ?? 0)
    }
    samples = Mutex(SampleNotifications(chain: store.chain, app: SampleApp(bundleId: Self.bundleId), seed: 1))
    router = try NotificationRouter([
      TopicDefinition(name: NotificationFamily.subscriptions.topic, notifications: .init(unrecognized: true))
    ])
    folder = try TestFolder()
    var configuration = store.configuration
    var entry = WorkerEntry()
    entry.families = ["subscriptions"]
    entry.handler.url = StubEndpoint.url
    entry.handler.secretFile = try folder.write(StubEndpoint.secret, to: "secret")
    change(&entry)
    configuration.workers["winback"] = entry
    configuration.appStore.limitDivisor = 0.001
    self.configuration = configuration
    identity = try HTTPWorker.identities(in: configuration)[0]
    var policy = configuration.policy(of: "winback", standard: identity.policy)
    policy.commitInterval = .zero
    self.policy = policy
    topics = WorkerTopics(HTTPWorker.self, as: identity, configuration, policy)
    log = InMemoryLog(clock: time.clock)
    for name in topics.laneTopics { try log.createTopic(name, partitions: 1) }
    for name in topics.others { try log.createTopic(name, partitions: 1) }
  }

  /// Writes a notification about the subscription, so that all have the same key.
  func notify(_ type: NotificationTypeV2 = .didRenew) throws {
    let sample = try samples.withLock { try $0.next(SampleKind(type), signedDate: time.clock.wallTime) }
    var json = try UnverifiedToken(parsing: sample.jws).payload
    guard case .object(var data)? = json["data"] else { throw NeverHeld() }
    for name in ["signedTransactionInfo", "signedRenewalInfo"] {
      guard case .string(let token)? = data[name] else { continue }
      var inner = try UnverifiedToken(parsing: Array(token.utf8)).payload
      inner["originalTransactionId"] = .string(subscription)
      data[name] = .string(String(decoding: try store.chain.sign(inner.serialized()), as: UTF8.self))
    }
    json["data"] = .object(data)
    let jws = try store.chain.sign(json.serialized())
    let payload = ResponseBodyV2DecodedPayload(json: json)
    let transaction = try payload.data?.signedTransactionInfo.map {
      JWSTransactionDecodedPayload(json: try UnverifiedToken(parsing: Array($0.utf8)).payload)
    }
    let record = NotificationRecord.v2(
      jws: jws, payload: payload, transaction: transaction, renewalInfo: nil, appTransaction: nil, origin: .post,
      traceParent: nil, router: router)
    try log.append(record.producerRecord)
  }

  /// Runs the worker concurrently with `body`.
  func running(_ endpoint: StubEndpoint, _ body: @escaping @Sendable (WorkerRuntime) async throws -> Void) async throws
  {
    let runtime = try await WorkerProcess.runtime(
      HTTPWorker.self, as: identity, configuration, policy, log: log, exchange: endpoint,
      metrics: NOOPMetricsHandler.instance, verifier: store.verifier, clock: time.clock,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    self.runtime.withLock { $0 = runtime }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await runtime.run()
        return false
      }
      group.addTask {
        while !runtime.readiness.isReady {
          self.time.advance(by: .milliseconds(100))
          for _ in 0..<20 { await Task.yield() }
        }
        try await body(runtime)
        return true
      }
      while let isBody = try await group.next() {
        if isBody { group.cancelAll() }
      }
    }
    #expect(endpoint.problems.isEmpty)
    try folder.remove()
  }

  /// Advances time in steps until a condition holds. While the worker does something, the steps are short, so that a busy
  /// machine does not exceed the time limit of a handler.
  func until(within limit: Duration = .seconds(3_600), step: Duration = .milliseconds(500), _ holds: () -> Bool)
    async throws
  {
    let end = time.clock.now.advanced(by: limit)
    while !holds() {
      guard time.clock.now < end else { throw NeverHeld() }
      let isQuiet = await runtime.withLock { $0 }?.rest()?.isQuiet ?? true
      time.advance(by: isQuiet ? step : min(step, .milliseconds(10)))
      for _ in 0..<200 { await Task.yield() }
    }
  }

  struct NeverHeld: Error {}

  /// The paths of the calls to Apple that begin with a text.
  func asked(_ start: String) -> [String] { apple.asked.filter { $0.hasPrefix("\(start)/") } }

  /// The dead letters so far.
  var deadLetters: [(letter: DeadLetter, record: ConsumerRecord)] {
    log.records(in: topics.deadLetters).compactMap { record in DeadLetter(record.headers).map { ($0, record) } }
  }
}

@Suite(.timeLimit(.minutes(10))) struct AppleCallTests {
  private static func call(_ name: String, _ operation: AppleOperation, _ arguments: JSON) -> JSON {
    ["name": .string(name), "operation": .string(operation.rawValue), "arguments": arguments]
  }

  /// The result of each call by name.
  private static func results(_ endpoint: StubEndpoint) -> [String: JSONObject] {
    var results: [String: JSONObject] = [:]
    for request in endpoint.requests where request.kind == "call-result" {
      guard case .string(let name)? = request["call", "name"], case .object(let result)? = request["call", "result"]
      else { continue }
      results[name] = result
    }
    return results
  }

  @Test func `every operation comes back with Apple's answer, whose tokens are decoded`() async throws {
    let stage = try CallStage()
    let id = JSON.string(stage.subscription)
    let calls: [JSON] = [
      Self.call("transaction", .getTransactionInfo, ["transactionId": id]),
      Self.call("history", .getTransactionHistory, ["transactionId": id, "sort": "DESCENDING", "revoked": false]),
      Self.call("status", .getAllSubscriptionStatuses, ["transactionId": id, "status": [1, 2]]),
      Self.call("refunds", .getRefundHistory, ["transactionId": id]),
      Self.call("app", .getAppTransactionInfo, ["transactionId": id]),
      Self.call(
        "extend", .extendSubscriptionRenewalDate,
        ["originalTransactionId": id, "extendByDays": 7, "extendReasonCode": 1, "requestIdentifier": "r"]),
      Self.call(
        "consumption", .sendConsumptionInformation,
        [
          "transactionId": id, "customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "DELIVERED",
        ]),
      Self.call(
        "account", .setAppAccountToken,
        ["originalTransactionId": id, "appAccountToken": "02cad037-dd5f-4791-9d1c-14de185aa272"]),
      Self.call("order", .lookUpOrderId, ["orderId": "NONE1234"]),
      Self.call("unknown", .getTransactionInfo, ["transactionId": "1", "environment": "Production"]),
    ]
    let endpoint = try StubEndpoint(apple: stage.apple) { request in
      request.kind == "notification" ? .outcome(["calls": .array(calls)]) : .nothing
    }
    try await stage.running(endpoint) { _ in
      try stage.notify()
      try await stage.until { Self.results(endpoint).count == calls.count }
    }
    let results = Self.results(endpoint)
    func body(_ name: String) -> JSONObject {
      if case .object(let body)? = results[name]?["body"] { body } else { [:] }
    }
    for name in ["transaction", "history", "status", "refunds", "app", "extend", "account", "order"] {
      #expect(results[name]?["status"] == "succeeded", "\(name): \(String(describing: results[name]))")
    }
    #expect(body("transaction")["transaction"]?.kind == .object && body("app")["appTransaction"]?.kind == .object)
    #expect(body("history")["transactions"]?.kind == .array && body("history")["hasMore"] == false)
    #expect(body("extend")["success"] == true && body("order")["status"] == 1)
    #expect(String(decoding: body("status").serialized(), as: UTF8.self).contains(#""renewalInfo":{"#))
    #expect(results["unknown"]?["status"] == "failed" && results["unknown"]?["httpStatus"] == 404)
    #expect(results["unknown"]?["errorCode"] == 4_040_010 && results["unknown"]?["message"]?.kind == .string)
    for request in endpoint.requests {
      #expect(!String(decoding: request.json.serialized(), as: UTF8.self).contains("eyJ"))
    }
  }

  @Test func `a call with an effect is made once, whatever the endpoint answers and however often it is ordered`()
    async throws
  {
    let stage = try CallStage()
    let order = Self.call(
      "extend/1", .extendSubscriptionRenewalDate,
      [
        "originalTransactionId": .string(stage.subscription), "extendByDays": 7, "extendReasonCode": 1,
        "requestIdentifier": "r",
      ])
    let answers = Mutex(0)
    let endpoint = try StubEndpoint(apple: stage.apple) { request in
      guard request.kind == "call-result" else { return .outcome(["calls": [order]]) }
      let number = answers.withLock { answers in
        answers += 1
        return answers
      }
      return number < 3
        ? .answer(500)
        : .outcome(["events": [["name": "extended", "data": ["attempt": .integer(request.attempt)]]]])
    }
    try await stage.running(endpoint) { _ in
      // Apple fails at first: the call is made again with the same bytes.
      stage.services.inject(
        Fault(.failure(status: 500, body: .html), endpoints: [.extendSubscriptionRenewalDate], count: 2))
      try stage.notify()
      try await stage.until { !stage.log.records(in: stage.topics.events).isEmpty }
      let made = stage.asked("PUT /inApps/v1/subscriptions/extend").count
      #expect(made == 3, "Apple failed twice")
      try stage.notify()
      try await stage.until { stage.log.records(in: stage.topics.events).count == 2 }
      #expect(stage.asked("PUT /inApps/v1/subscriptions/extend").count == made, "the second order makes no call")
    }
    let results = endpoint.requests.filter { $0.kind == "call-result" }
    #expect(results.map(\.attempt) == [1, 2, 3, 1], "failed requests are retried by the schedule")
    #expect(Set(results.map(\.id)).count == 2, "one id for all attempts, another one for the second order")
    #expect(Set(results.compactMap { $0["call", "result"] }).count == 1, "the stored result")
    let made = try #require(Int64(stage.subscription))
    #expect(stage.extensions(of: made) == 1, "Apple has extended once")
  }

  /// An endpoint that orders an extension by seven days.
  private func extending(_ stage: CallStage) throws -> StubEndpoint {
    let order = Self.call(
      "extend/1", .extendSubscriptionRenewalDate,
      [
        "originalTransactionId": .string(stage.subscription), "extendByDays": 7, "extendReasonCode": 1,
        "requestIdentifier": "r",
      ])
    return try StubEndpoint(apple: stage.apple) { request in
      request.kind == "notification" ? .outcome(["calls": [order]]) : .nothing
    }
  }

  /// Orders an extension by seven days from an Apple without memory, whose second attempt comes after two hours.
  /// - Parameters:
  ///   - fault: What happens to the first call.
  ///   - meanwhile: What happens before the second attempt.
  /// - Returns: The number of calls and of extensions, and the result.
  private func extended(
    after fault: FaultEffect, _ meanwhile: @escaping @Sendable (CallStage) throws -> Void = { _ in }
  ) async throws -> (calls: Int, extensions: Int, result: JSONObject?) {
    let stage = try CallStage { $0.retryDelays = [.seconds(7_200)] }
    let endpoint = try extending(stage)
    try await stage.running(endpoint) { _ in
      stage.services.inject(Fault(fault, endpoints: [.extendSubscriptionRenewalDate], count: 1))
      try stage.notify()
      try await stage.until { !stage.asked("PUT /inApps/v1/subscriptions/extend").isEmpty }
      try meanwhile(stage)
      try await stage.until(within: .seconds(4 * 3_600), step: .seconds(10)) {
        Self.results(endpoint)["extend/1"] != nil
      }
    }
    let calls = stage.asked("PUT /inApps/v1/subscriptions/extend").count
    let id = try #require(Int64(stage.subscription))
    return (calls, stage.extensions(of: id), Self.results(endpoint)["extend/1"])
  }

  @Test func `an extension whose answer was lost is not ordered again after an hour`() async throws {
    let (calls, extensions, result) = try await extended(after: .answerLost)
    #expect(calls == 1 && extensions == 1)
    #expect(result?["status"] == "succeeded" && result?["unclear"] == nil, "\(result as Any)")
    guard case .object(let body)? = result?["body"] else { throw CallStage.NeverHeld() }
    #expect(body["success"] == true && body["effectiveDate"]?.kind == .integer)
  }

  @Test func `an extension is made with the calls of the documentation's example`() async throws {
    let stage = try CallStage { $0.calls = [.extendSubscriptionRenewalDate] }
    let endpoint = try extending(stage)
    try await stage.running(endpoint) { _ in
      try stage.notify()
      try await stage.until { Self.results(endpoint)["extend/1"] != nil }
    }
    #expect(Self.results(endpoint)["extend/1"]?["status"] == "succeeded")
    #expect(stage.asked("GET /inApps/v1/subscriptions").count == 1, "the period before the extension")
    #expect(stage.deadLetters.isEmpty)
  }

  @Test func `an extension that did not reach Apple is ordered again after an hour`() async throws {
    let (calls, extensions, result) = try await extended(after: .connectionReset)
    #expect(calls == 2 && extensions == 1 && result?["status"] == "succeeded", "\(result as Any)")
  }

  @Test func `an extension is not ordered again if the period moved in another way`() async throws {
    let (calls, extensions, result) = try await extended(after: .connectionReset) { try $0.extend(byDays: 3) }
    #expect(calls == 1 && extensions == 1, "the other party's")
    #expect(result?["status"] == "failed" && result?["unclear"] == true, "\(result as Any)")
  }

  @Test func `a call that only reads is made for each order, and once for all attempts to deliver its result`()
    async throws
  {
    let stage = try CallStage()
    let order = Self.call("info", .getTransactionInfo, ["transactionId": .string(stage.subscription)])
    let answers = Mutex(0)
    let endpoint = try StubEndpoint(apple: stage.apple) { request in
      guard request.kind == "call-result" else { return .outcome(["calls": [order]]) }
      let number = answers.withLock { answers in
        answers += 1
        return answers
      }
      return number < 3 ? .answer(500) : .outcome(["events": [["name": "read", "data": [:]]]])
    }
    try await stage.running(endpoint) { _ in
      try stage.notify()
      try await stage.until { !stage.log.records(in: stage.topics.events).isEmpty }
      #expect(stage.asked("GET /inApps/v1/transactions").count == 1)
      try stage.notify()
      try await stage.until { stage.log.records(in: stage.topics.events).count == 2 }
      #expect(stage.asked("GET /inApps/v1/transactions").count == 2, "nothing is kept after the delivery")
    }
    let results = endpoint.requests.filter { $0.kind == "call-result" }
    #expect(results.map(\.attempt) == [1, 2, 3, 1])
    #expect(Set(results.map(\.id)).count == 2 && results.allSatisfy { $0["call", "result", "status"] == "succeeded" })
  }

  @Test(
    arguments: [
      (.getTransactionInfo, .failure(status: 500, body: .html)), (.getTransactionInfo, .unauthorized),
      (.setAppAccountToken, .failure(status: 503, body: .empty)),
    ] as [(AppleOperation, FaultEffect)])
  func `a call that Apple keeps failing follows the schedule and becomes a dead letter`(
    operation: AppleOperation, effect: FaultEffect
  ) async throws {
    let stage = try CallStage { $0.maximumAttempts = 3 }
    let id = JSON.string(stage.subscription)
    let arguments: JSON =
      operation == .getTransactionInfo
      ? ["transactionId": id]
      : ["originalTransactionId": id, "appAccountToken": "02cad037-dd5f-4791-9d1c-14de185aa272"]
    let endpoint = try StubEndpoint(apple: stage.apple) { request in
      request.kind == "notification" ? .outcome(["calls": [Self.call("c", operation, arguments)]]) : .nothing
    }
    try await stage.running(endpoint) { _ in
      let start = stage.time.clock.wallTime
      stage.services.inject(Fault(effect, from: start, share: 1))
      try stage.notify()
      try await stage.until { !stage.deadLetters.isEmpty }
      let (letter, record) = try #require(stage.deadLetters.first)
      #expect(letter.reason == "attempts-exhausted")
      #expect(letter.detail.contains("tried 3 times; last: apple-error: \(operation.rawValue) in Production"))
      #expect(stage.time.clock.wallTime >= start + .seconds(70), "10 s and a minute between the attempts")
      let dead = try #require(NamedTimer(record))
      let entry = try #require(StoredEntry(bytes: dead.timer.payload))
      #expect(entry.call?.operation == operation && dead.timer.failures == nil, "a requeue begins anew")
      let asked = stage.apple.asked.count
      #expect(asked >= 3)
      let later = stage.time.clock.wallTime + .seconds(600)
      try await stage.until { stage.time.clock.wallTime > later }
      #expect(stage.apple.asked.count == asked && stage.deadLetters.count == 1)
    }
    #expect(endpoint.requests.map(\.kind) == ["notification"])
  }

  @Test func `the name of an effect cannot be used for another operation`() async throws {
    let stage = try CallStage()
    let id = JSON.string(stage.subscription)
    let orders: [JSON] = [
      Self.call(
        "x", .extendSubscriptionRenewalDate,
        ["originalTransactionId": id, "extendByDays": 7, "extendReasonCode": 1, "requestIdentifier": "r"]),
      Self.call(
        "x", .setAppAccountToken,
        ["originalTransactionId": id, "appAccountToken": "02cad037-dd5f-4791-9d1c-14de185aa272"]),
      Self.call("x", .getTransactionInfo, ["transactionId": id]),
    ]
    let count = Mutex(0)
    let endpoint = try StubEndpoint(apple: stage.apple) { request in
      guard request.kind == "notification" else { return .nothing }
      let order = count.withLock { count in
        count += 1
        return orders[count - 1]
      }
      return .outcome(["calls": [order]])
    }
    try await stage.running(endpoint) { _ in
      try stage.notify()
      try await stage.until { endpoint.requests.count == 2 }
      for number in 1...2 {
        try stage.notify()
        try await stage.until { stage.deadLetters.count == number }
      }
      let letters = stage.deadLetters
      #expect(letters.map(\.letter.reason) == ["call-name-reused", "call-name-reused"])
      #expect(letters.first?.letter.detail.contains("was used for extendSubscriptionRenewalDate before") == true)
      #expect(
        letters.compactMap { NamedTimer($0.record)?.name } == Array(repeating: "call/\(stage.subscription)/x", count: 2)
      )
    }
    #expect(Self.results(endpoint).keys.sorted() == ["x"])
    // The extension reads the present period first.
    #expect(stage.asked("GET /inApps/v1/subscriptions").count == 1)
    #expect(stage.apple.asked.count == stage.asked("PUT /inApps/v1/subscriptions/extend").count + 1)
  }
}

extension CallStage {
  /// The number of extensions of a subscription.
  fileprivate func extensions(of id: Int64) -> Int {
    store.world.withState { $0.subscriptions[id]?.extensions.count ?? 0 }
  }

  /// Another party extends the subscription.
  fileprivate func extend(byDays days: Int) throws {
    let now = time.clock.wallTime
    _ = try store.world.withState { state throws(WorldError) in
      try state.extendRenewal(Int64(subscription) ?? 0, byDays: days, at: now)
    }
  }
}
