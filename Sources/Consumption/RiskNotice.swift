// The warning that an answer may come too late. It lives as a timer with the lane, so a restart does not lose it.

internal import AppStore
internal import Millrace

/// What the warning says, kept until its time.
struct RiskNotice: Sendable {
  private var purchase: AskedPurchase
  private var deadline: Timestamp
  private var reason: String

  init(_ question: ConsumptionQuestion, reason: String) {
    purchase = AskedPurchase(question)
    deadline = question.deadline.planned
    self.reason = reason
  }

  /// - Throws: ``PermanentFailure`` for what another version wrote.
  init(parsing bytes: [UInt8]) throws {
    let json = try JSONObject(parsing: bytes)
    guard case .object(let purchase)? = json["purchase"], case .integer(let deadline)? = json["deadline"],
      case .string(let reason)? = json["reason"], let asked = AskedPurchase(purchase)
    else { throw PermanentFailure("timer-unreadable", "the timer was set by a version that this one does not know") }
    self.purchase = asked
    self.deadline = Timestamp(millisecondsSince1970: deadline)
    self.reason = reason
  }

  /// Names the answer that is missing.
  var effect: String { ConsumptionQuestion.effect(purchase.notificationUUID) }

  func serialized() -> [UInt8] {
    let json: JSONObject = [
      "purchase": .object(purchase.json), "deadline": .integer(deadline.millisecondsSince1970),
      "reason": .string(reason),
    ]
    return json.serialized()
  }

  func event(at time: Timestamp) -> ConsumptionAtRisk {
    ConsumptionAtRisk(
      purchase: purchase, remainingSeconds: max(0, (deadline - time).components.seconds), reason: reason)
  }
}
