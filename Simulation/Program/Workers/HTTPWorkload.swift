// An HTTP worker. Its endpoint counts the occurrences of each key in the state, asks for retries, sets timers, and orders
// extensions from Apple.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSigning
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

@testable internal import PlantedHTTPWorkers
@testable internal import PlantedWorker

final class HTTPWorkload: Workload, @unchecked Sendable {
  let apple: AppleModel
  private let keys: Int
  private let subscriptions: ExtendedSubscriptions
  private var posted: Set<String> = []
  /// The occurrence that each `webhook-id` stood for.
  private var occurrences: [String: [UInt8]] = [:]
  private var problems: Set<String> = []

  init(_ plan: Plan, _ apple: AppleModel) {
    (self.apple, keys, subscriptions) = (apple, plan.keys, ExtendedSubscriptions(apple))
  }

  private static let name = WorkerKind.http.rawValue
  private static let path = "decisions"
  private static var entry: WorkerEntry {
    var entry = WorkerEntry()
    entry.families = [NotificationFamily.subscriptions.rawValue]
    entry.calls = [.extendSubscriptionRenewalDate, .getAllSubscriptionStatuses]
    entry.handler.url = "http://endpoint/\(path)"
    entry.handler.payload = .minimal
    return entry
  }

  let families: Set<NotificationFamily> = [.subscriptions]
  let outputTopics = HTTPWorker.outputTopics
  let policy = HTTPWorker.policy(of: entry)
  let family = NotificationFamily.subscriptions

  func runtime(_ start: ProcessStart) async throws -> WorkerRuntime {
    try await start.runtime(
      HTTPWorker.self, as: WorkerIdentity(name: Self.name, families: families, policy: policy), apple,
      workers: [Self.name: Self.entry])
  }

  func post(_ number: Int, at now: Timestamp) throws -> [ProducerRecord] {
    let (key, id) = ("k\(number % keys)", "n\(number)")
    posted.insert(id)
    return [
      try apple.notification(
        SampleKind(.didRenew), id: id, about: apple.transaction("\(key).\(number)", of: key, at: now), status: .active,
        signedAt: now, to: .subscriptions)
    ]
  }

  // MARK: - The endpoint

  /// The decision of the endpoint about a notification, by its number.
  private struct Work {
    var id: String
    var number: Int

    init(_ id: String) { (self.id, number) = (id, Int(id.dropFirst()) ?? 0) }

    /// Its first two attempts fail.
    var fails: Bool { number % 13 == 5 }
    var timer: String? { number % 5 == 1 ? "timer-\(id)" : nil }
    var call: String? { number % 4 == 2 ? "call-\(id)" : nil }
    /// The subscription that the call extends.
    var subscription: String { "20000\(number)" }
  }

  func answer(to call: AppleCall) throws -> ExchangeAnswer {
    guard call.path == [Self.path] else { return try subscriptions.answer(to: call) }
    let event = try JSONObject(parsing: call.body)
    let data = event.object("data") ?? [:]
    let outcome: JSONObject
    switch data.text("kind").flatMap(HandlerRequest.Kind.init) {
    case .notification?: outcome = decide(data.object("notification")?.text("id") ?? "", data)
    case .timer?: outcome = count(data, "fired", ["timer": data.object("timer")?["name"] ?? .null])
    case .callResult?:
      let result = data.object("call")?.object("result")
      outcome = count(
        data, "called", ["call": data.object("call")?["name"] ?? .null, "status": result?["status"] ?? .null])
    case nil: return ExchangeAnswer(status: 400)
    }
    note(event.text("id") ?? "", data)
    return ExchangeAnswer(
      status: 200, headers: ["content-type": "application/json"], body: AppleModel.json(outcome))
  }

  private func decide(_ id: String, _ data: JSONObject) -> JSONObject {
    let work = Work(id)
    if work.fails, case .integer(1...2)? = data["attempt"] {
      return ["retry": .object(["after": 1, "reason": "not-yet"])]
    }
    var outcome = count(data, "noted", ["id": .string(id)])
    if let timer = work.timer {
      let at = apple.now + .milliseconds(500 * (1 + work.number % 40))
      outcome["timers"] = .array([.object(["name": .string(timer), "at": .string(at.rfc3339)])])
    }
    if let call = work.call {
      let arguments: JSONObject = [
        "originalTransactionId": .string(work.subscription),
        "extendByDays": .integer(Int64(ExtendedSubscriptions.days)),
        "extendReasonCode": 1, "requestIdentifier": .string(call),
      ]
      let order: JSONObject = [
        "name": .string(call), "operation": .string(AppleOperation.extendSubscriptionRenewalDate.rawValue),
        "arguments": .object(arguments),
      ]
      outcome["calls"] = .array([.object(order)])
    }
    return outcome
  }

  /// Returns an outcome with an event, which has the number of occurrences of the key so far.
  private func count(_ data: JSONObject, _ name: String, _ content: JSONObject) -> JSONObject {
    var count: Int64 = 1
    if case .integer(let before)? = data.object("state")?["count"] { count += before }
    var content = content
    content["count"] = .integer(count)
    return [
      "state": .object(["count": .integer(count)]),
      "events": .array([.object(["name": .string(name), "data": .object(content)])]),
    ]
  }

  /// Every attempt with one `webhook-id` has to be about the same.
  private func note(_ id: String, _ data: JSONObject) {
    var data = data
    for member in ["state", "attempt", "deadline", "replay"] { data[member] = nil }
    // Another copy of the notification, after its topic was created again, arrived at another time.
    if var notification = data.object("notification") {
      notification["receivedAt"] = nil
      data["notification"] = .object(notification)
    }
    let occurrence = data.serialized()
    if let before = occurrences.updateValue(occurrence, forKey: id), before != occurrence {
      let texts = [before, occurrence].map { String(decoding: $0, as: UTF8.self) }
      problems.insert("requests with the id \(id) differ: \(texts.joined(separator: " and "))")
    }
  }

  // MARK: - Checks

  func isDelayed(_ id: String) -> Bool { true }

  /// The timers and calls of notifications that are done.
  private func expected(_ checker: Checker) -> (timers: Set<String>, calls: [String: Work]) {
    // Without transactions, a ledger entry that was overwritten can also be a timer.
    guard !checker.canOverwriteLedger else { return ([], [:]) }
    let done = posted.intersection(checker.finished).map(Work.init)
    let timers = done.compactMap { work in
      work.timer.flatMap { checker.isDead(StoredEntry.timerName($0, key: key(of: work))) ? nil : $0 }
    }
    let calls = done.compactMap { work in
      work.call.flatMap { checker.isDead(StoredEntry.callName($0, key: key(of: work))) ? nil : ($0, work) }
    }
    return (Set(timers), Dictionary(calls) { $1 })
  }

  private func key(of work: Work) -> String { "k\(work.number % keys)" }

  func waiting(_ checker: Checker) -> [String] {
    let (timers, calls) = expected(checker)
    return timers.subtracting(checker.values(of: "timer", in: "fired")).sorted()
      + Set(calls.keys).subtracting(checker.values(of: "call", in: "called")).sorted()
  }

  func problems(_ checker: Checker) -> [String] {
    let (timers, calls) = expected(checker)
    var found = subscriptions.repeated + checker.once("noted", for: posted.intersection(checker.finished))
    guard !checker.canOverwriteLedger else { return found }
    found += problems.sorted()
    found += checker.once("fired", by: "timer", for: timers)
    found += checker.once("called", by: "call", for: Set(calls.keys))
    found += calls.sorted { $0.key < $1.key }.compactMap { name, work in
      let isEligible = ExtendedSubscriptions.isEligible(work.subscription)
      let statuses = Set(checker.values(of: "status", in: "called") { $0.text("call") == name })
      guard subscriptions.isExtended(work.subscription) == isEligible,
        statuses == [isEligible ? "succeeded" : "failed"]
      else { return "\(name) has \(statuses.sorted()), and should\(isEligible ? "" : " not") have extended" }
      return nil
    }
    guard checker.isExact else { return found }
    return found
      + checker.histories.sorted { $0.key < $1.key }.compactMap { key, events in
        let counts = events.map { if case .integer(let count)? = $0["count"] { Int(count) } else { 0 } }
        return counts == Array(1...counts.count) ? nil : "the occurrences of \(key) have the numbers \(counts)"
      }
  }
}
