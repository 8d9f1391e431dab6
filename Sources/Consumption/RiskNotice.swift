// The warning that an answer may come too late. It is a timer in the ledger, so it survives restarts.

internal import AppStore
internal import MillraceWorker

/// The content of the warning, stored with the timer.
struct RiskNotice: Sendable {
  private var purchase: AskedPurchase
  private var deadline: Timestamp
  private var reason: String

  init(_ question: ConsumptionQuestion, reason: String) {
    purchase = AskedPurchase(question)
    deadline = question.deadline.planned
    self.reason = reason
  }

  /// - Throws: ``UnreadableTimer`` if another version wrote an unknown format.
  init(parsing bytes: [UInt8]) throws {
    let json = try JSONObject(parsing: bytes)
    guard case .object(let purchase)? = json["purchase"], case .integer(let deadline)? = json["deadline"],
      case .string(let reason)? = json["reason"], let asked = AskedPurchase(purchase)
    else {
      throw UnreadableTimer()
    }
    self.purchase = asked
    self.deadline = Timestamp(millisecondsSince1970: deadline)
    self.reason = reason
  }

  /// The name of the missing answer's effect.
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

/// The timer was set by another version. It fires again until the version runs that set it.
struct UnreadableTimer: Error, CustomStringConvertible {
  var description: String { "another version set the timer, in an unknown format; run the version that set it" }
}
