// The answers about one transaction whose outcome is not known yet. They are a state of the ledger, so they move with the
// lane and are erased with the customer.

internal import AppStore

/// A request and its answer, and the decision that followed.
struct RememberedAnswer: Sendable, Hashable {
  var purchase: AskedPurchase
  /// When Apple signed the request. An earlier decision is about an earlier request.
  var askedAt: Timestamp
  /// When Apple got the answer; nil if the request ended without one. A decision about it is then no outcome of an
  /// earlier answer.
  var sentAt: Timestamp?
  /// The preference that Apple received.
  var preference: String?
  /// The country of the customer's App Store.
  var storefront: String?
  /// The newest decision after the request; nil if there is none yet.
  var decision: RefundDecision?
  /// Whether Apple decided, or the worker handled the decision, before the answer was sent. Such a decision is no
  /// outcome of the answer.
  var isDecidedBefore = false

  /// Whether Apple had the answer at a time.
  fileprivate func isSent(by time: Timestamp) -> Bool { sentAt.map { $0 <= time } ?? false }
}

/// The answers about one transaction, the earliest request first, and the decisions that may precede an answer. A request
/// that ended without an answer is among them if there is an earlier answer.
struct AnswerMemory: Sendable, Hashable {
  /// How long the worker waits for a decision. Apple decides within days, and its last retry of a notification comes 157
  /// hours later.
  static let time = Duration.seconds(30 * 86_400)
  /// How long a decision without an answer is kept. The answer to an earlier request can follow until then.
  static let openTime = ConsumptionDeadline.lastRetry + ConsumptionDeadline.time
  /// The largest number of answers, and of decisions without an answer, about a transaction. A customer can ask again
  /// after a declined request.
  private static let limit = 10

  private(set) var answers: [RememberedAnswer] = []
  /// The decisions that were handled when there was no answer to an earlier request.
  private(set) var early: [RefundDecision] = []

  /// The name of the state.
  static func name(_ transactionId: String) -> String { "answers/\(transactionId)" }

  /// Adds an answer. If Apple's decision about its request is known already, the answer came too late for it.
  /// - Returns: Whether it was unknown.
  mutating func add(_ answer: RememberedAnswer) -> Bool {
    let known = early + answers.compactMap(\.decision)
    if let index = answers.firstIndex(where: { $0.purchase.notificationUUID == answer.purchase.notificationUUID }) {
      // A reapply may answer a request that had ended without an answer.
      guard answers[index].sentAt == nil, answer.sentAt != nil else { return false }
      answers.remove(at: index)
    }
    answers.append(answer)
    answers.sort { ($0.askedAt, $0.purchase.notificationUUID) < ($1.askedAt, $1.purchase.notificationUUID) }
    if let index = answers.firstIndex(where: { $0.purchase.notificationUUID == answer.purchase.notificationUUID }),
      let newest = known.filter({ self.index(of: $0) == index }).max(by: { $0.at < $1.at })
    {
      answers[index].decision = newest
      answers[index].isDecidedBefore = true
    }
    if answers.count > Self.limit {
      // Of requests in a row that ended without an answer, the first suffices.
      let spare = answers.indices.dropFirst().first { answers[$0].sentAt == nil && answers[$0 - 1].sentAt == nil }
      answers.remove(at: spare ?? 0)
    }
    return true
  }

  /// Whether Apple has an answer to a request before a time.
  func hasAnswer(before time: Timestamp) -> Bool { answers.contains { $0.sentAt != nil && $0.askedAt <= time } }

  /// Returns the index of the answer to the last request before a decision.
  private func index(of decision: RefundDecision) -> Int? { answers.lastIndex { $0.askedAt <= decision.at } }

  /// Adds a decision to the answer that it follows: that to the last request before it. Without such an answer, keeps the
  /// decision for one that may follow.
  ///
  /// - Returns: The answer whose outcome the decision is. Nil if it is about none of the answers, came before the answer,
  ///   is not new, or is older than the known one. The notification of the known decision is news whenever it is handled,
  ///   so that a reapply gives the same result.
  mutating func apply(_ decision: RefundDecision, at now: Timestamp) -> RememberedAnswer? {
    guard let index = index(of: decision) else {
      keep(decision, at: now)
      return nil
    }
    if let known = answers[index].decision {
      guard known.notificationId != decision.notificationId else {
        return answers[index].isDecidedBefore ? nil : answers[index]
      }
      guard decision.at > known.at, decision.kind != known.kind else { return nil }
    }
    answers[index].decision = decision
    answers[index].isDecidedBefore = !answers[index].isSent(by: decision.at)
    return answers[index].isDecidedBefore ? nil : answers[index]
  }

  private mutating func keep(_ decision: RefundDecision, at now: Timestamp) {
    guard now < decision.at + Self.openTime, !early.contains(where: { $0.notificationId == decision.notificationId })
    else { return }
    early.append(decision)
    if early.count > Self.limit { early.removeFirst() }
  }

  /// Removes a decision that was kept without an answer.
  /// - Returns: Whether it was there.
  mutating func forget(_ notificationId: String) -> Bool {
    let count = early.count
    early.removeAll { $0.notificationId == notificationId }
    return early.count < count
  }

  /// Removes an answer.
  mutating func remove(_ notificationUUID: String) -> RememberedAnswer? {
    guard let index = answers.firstIndex(where: { $0.purchase.notificationUUID == notificationUUID }) else {
      return nil
    }
    return answers.remove(at: index)
  }
}

// MARK: - In the ledger

extension AnswerMemory {
  /// - Throws: ``UnreadableMemory`` if another version wrote an unknown format.
  init(parsing bytes: [UInt8]) throws {
    let json: JSONObject
    do { json = try JSONObject(parsing: bytes) } catch { throw UnreadableMemory() }
    answers = try Self.items(json["answers"], RememberedAnswer.init)
    // Absent if there are none.
    early = try Self.items(json["early"] ?? .array([]), RefundDecision.init)
  }

  private static func items<Item>(_ value: JSON?, _ item: (JSONObject) -> Item?) throws -> [Item] {
    guard case .array(let values)? = value else { throw UnreadableMemory() }
    return try values.map { value in
      guard case .object(let json) = value, let found = item(json) else { throw UnreadableMemory() }
      return found
    }
  }

  /// The value of the state; nil if there is nothing to remember.
  var value: [UInt8]? {
    guard !answers.isEmpty || !early.isEmpty else { return nil }
    var json: JSONObject = ["answers": .array(answers.map { .object($0.json) })]
    if !early.isEmpty { json["early"] = .array(early.map { .object($0.json) }) }
    return json.serialized()
  }
}

extension RememberedAnswer {
  fileprivate init?(_ json: JSONObject) {
    guard case .object(let asked)? = json["purchase"], let purchase = AskedPurchase(asked),
      let askedAt = json["askedAt"].flatMap({ Timestamp(jsonValue: $0) })
    else { return nil }
    var sentAt: Timestamp?
    if let value = json["sentAt"] {
      guard let time = Timestamp(jsonValue: value) else { return nil }
      sentAt = time
    }
    self.init(
      purchase: purchase, askedAt: askedAt, sentAt: sentAt, preference: json["refundPreference"]?.text,
      storefront: json["storefront"]?.text)
    guard case .object(let known)? = json["decision"] else { return }
    guard let decision = RefundDecision(known) else { return nil }
    self.decision = decision
    isDecidedBefore = json["isDecidedBefore"] == true
  }

  fileprivate var json: JSONObject {
    var json: JSONObject = [
      "purchase": .object(purchase.json), "askedAt": askedAt.jsonValue,
    ]
    json["sentAt"] = sentAt?.jsonValue
    json["refundPreference"] = preference.map { .string($0) }
    json["storefront"] = storefront.map { .string($0) }
    json["decision"] = decision.map { .object($0.json) }
    if isDecidedBefore { json["isDecidedBefore"] = true }
    return json
  }
}

extension RefundDecision {
  fileprivate init?(_ json: JSONObject) {
    guard let kind = json["kind"]?.text.flatMap({ Kind(rawValue: $0) }), let notification = json["notification"]?.text,
      let transaction = json["transaction"]?.text, let time = json["at"].flatMap({ Timestamp(jsonValue: $0) })
    else { return nil }
    self.init(
      kind: kind, notificationId: notification, transactionId: transaction, at: time,
      percentage: json["percentage"].flatMap { Int64(jsonValue: $0) })
  }

  fileprivate var json: JSONObject {
    var json: JSONObject = [
      "kind": .string(kind.rawValue), "notification": .string(notificationId), "transaction": .string(transactionId),
      "at": at.jsonValue,
    ]
    json["percentage"] = percentage?.jsonValue
    return json
  }
}

/// The state was written by another version.
struct UnreadableMemory: Error {}

/// The end of the wait for a decision about an answer, or for an answer before a decision. It is stored with the timer.
struct OutcomeTimer: Sendable, Hashable {
  var transactionId: String
  /// The notification of the request or of the decision.
  var notificationUUID: String

  private static let prefix = "outcome/"

  /// The name of the timer.
  var name: String { "\(Self.prefix)\(transactionId)/\(notificationUUID)" }

  /// Whether a timer of this name ends a wait.
  static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) }

  init(_ purchase: AskedPurchase) {
    transactionId = purchase.transactionId
    notificationUUID = purchase.notificationUUID
  }

  init(_ decision: RefundDecision) {
    transactionId = decision.transactionId
    notificationUUID = decision.notificationId
  }

  /// - Throws: ``UnreadableTimer`` if another version wrote an unknown format.
  init(parsing bytes: [UInt8]) throws {
    let json = try JSONObject(parsing: bytes)
    guard let transaction = json["transactionId"]?.text, let notification = json["notificationUUID"]?.text else {
      throw UnreadableTimer()
    }
    (transactionId, notificationUUID) = (transaction, notification)
  }

  func serialized() -> [UInt8] {
    let json: JSONObject = [
      "transactionId": .string(transactionId), "notificationUUID": .string(notificationUUID),
    ]
    return json.serialized()
  }
}
