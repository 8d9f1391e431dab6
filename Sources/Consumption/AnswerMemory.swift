// The answers about one transaction whose outcome is not known yet. They are a state of the ledger, so they move with the
// lane and are erased with the customer.

internal import AppStore

/// An answer that Apple has, and the decision that followed.
struct RememberedAnswer: Sendable, Hashable {
  var purchase: AskedPurchase
  /// When Apple signed the request. An earlier decision is about an earlier request.
  var askedAt: Timestamp
  var sentAt: Timestamp
  /// The preference that Apple received.
  var preference: String?
  /// The country of the customer's App Store.
  var storefront: String?
  /// The newest decision; nil if there is none yet.
  var decision: RefundDecision?
}

/// The answers about one transaction, the earliest request first.
struct AnswerMemory: Sendable, Hashable {
  /// How long the worker waits for a decision. Apple decides within days, and its last retry of a notification comes 157
  /// hours later.
  static let time = Duration.seconds(30 * 86_400)
  /// The largest number of answers about a transaction. A customer can ask again after a declined request.
  private static let limit = 10

  private(set) var answers: [RememberedAnswer] = []

  /// The name of the state.
  static func name(_ transactionId: String) -> String { "answers/\(transactionId)" }

  /// Adds an answer.
  /// - Returns: Whether it was unknown.
  mutating func add(_ answer: RememberedAnswer) -> Bool {
    guard !answers.contains(where: { $0.purchase.notificationUUID == answer.purchase.notificationUUID }) else {
      return false
    }
    answers.append(answer)
    answers.sort { ($0.askedAt, $0.purchase.notificationUUID) < ($1.askedAt, $1.purchase.notificationUUID) }
    if answers.count > Self.limit { answers.removeFirst() }
    return true
  }

  /// Adds a decision to the answer that it follows: that to the last request before it.
  ///
  /// - Returns: The answer; nil if the decision is about none of the answers, is not new, or is older than the known one.
  ///   The notification of the known decision is news whenever it is handled, so that a reapply gives the same result.
  mutating func take(_ decision: RefundDecision) -> RememberedAnswer? {
    guard let index = answers.lastIndex(where: { $0.askedAt <= decision.at }) else { return nil }
    if let known = answers[index].decision, known.notificationId != decision.notificationId {
      guard decision.at > known.at, decision.kind != known.kind else { return nil }
    }
    answers[index].decision = decision
    return answers[index]
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
    guard case .array(let items)? = try JSONObject(parsing: bytes)["answers"] else { throw UnreadableMemory() }
    answers = try items.map { item in
      guard case .object(let json) = item, let answer = RememberedAnswer(json) else { throw UnreadableMemory() }
      return answer
    }
  }

  /// The value of the state; nil if there is nothing to remember.
  var value: [UInt8]? {
    guard !answers.isEmpty else { return nil }
    let json: JSONObject = ["answers": .array(answers.map { .object($0.json) })]
    return json.serialized()
  }
}

extension RememberedAnswer {
  fileprivate init?(_ json: JSONObject) {
    guard case .object(let asked)? = json["purchase"], let purchase = AskedPurchase(asked),
      let askedAt = json["askedAt"].flatMap({ Timestamp(jsonValue: $0) }),
      let sentAt = json["sentAt"].flatMap({ Timestamp(jsonValue: $0) })
    else { return nil }
    self.init(
      purchase: purchase, askedAt: askedAt, sentAt: sentAt, preference: json["refundPreference"]?.text,
      storefront: json["storefront"]?.text)
    guard case .object(let decision)? = json["decision"] else { return }
    guard let kind = decision["kind"]?.text.flatMap({ RefundDecision.Kind(rawValue: $0) }),
      let notification = decision["notification"]?.text,
      let time = decision["at"].flatMap({ Timestamp(jsonValue: $0) })
    else { return nil }
    self.decision = RefundDecision(
      kind: kind, notificationId: notification, transactionId: purchase.transactionId, at: time,
      percentage: decision["percentage"].flatMap { Int64(jsonValue: $0) })
  }

  fileprivate var json: JSONObject {
    var json: JSONObject = [
      "purchase": .object(purchase.json), "askedAt": askedAt.jsonValue, "sentAt": sentAt.jsonValue,
    ]
    json["refundPreference"] = preference.map { .string($0) }
    json["storefront"] = storefront.map { .string($0) }
    if let decision {
      var object: JSONObject = [
        "kind": .string(decision.kind.rawValue), "notification": .string(decision.notificationId),
        "at": decision.at.jsonValue,
      ]
      object["percentage"] = decision.percentage?.jsonValue
      json["decision"] = .object(object)
    }
    return json
  }
}

/// The state was written by another version.
struct UnreadableMemory: Error {}

/// The end of the wait for a decision, stored with the timer.
struct OutcomeTimer: Sendable, Hashable {
  var transactionId: String
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
