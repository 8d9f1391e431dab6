// Offers a subscriber who cancelled to come back, three days later and unless the subscriber has returned by then.

import Foundation

/// Returns the outcome of a request, or nil if there is nothing to do. It depends on the request alone: a repeated
/// request has the same outcome.
func decide(_ data: HandlerRequest) throws -> Outcome? {
  if let notification = data.notification { return try notified(notification, data.state) }
  guard let state = data.state else { return nil }  // The subscriber has returned.
  guard let result = data.call?.result else {
    // A timer. The date makes the name unique: the same subscriber can leave again.
    let call = Outcome.Call(
      name: "status/\(state.left)", operation: "getAllSubscriptionStatuses", arguments: ["transactionId": data.key])
    return Outcome(calls: [call])
  }
  if result.status == "failed" {
    return Outcome(deadLetter: .init(reason: "apple-refused", detail: String((result.message ?? "").prefix(1_000))))
  }
  if isActive(result.body) { return Outcome(state: .null) }
  return Outcome(state: .null, events: [.init(name: "winback.offered", data: .init(product: state.product))])
}

private func notified(_ notification: HandlerRequest.Notification, _ state: State?) throws -> Outcome? {
  guard notification.version == 2 else { return nil }  // Version 1 is not signed.
  let signed = notification.signedDate ?? notification.receivedAt
  switch (notification.type, notification.subtype) {
  case ("EXPIRED", "VOLUNTARY"):
    let offer = try date(signed).addingTimeInterval(3 * 24 * 60 * 60)
    return Outcome(
      state: .value(State(left: signed, product: notification.transaction?.productId)),
      timers: [.init(name: "offer", at: .value(text(offer)))])
  case ("DID_RENEW", _), ("SUBSCRIBED", _):
    // Apple may post out of order: only a renewal after the departure counts.
    guard let state, try date(signed) > date(state.left) else { return nil }
    return Outcome(state: .null, timers: [.init(name: "offer", at: .null)])
  default: return nil
  }
}

/// Whether any subscription is active (1) or in its grace period (4).
private func isActive(_ statuses: HandlerRequest.Statuses?) -> Bool {
  (statuses?.data ?? []).contains { group in
    (group.lastTransactions ?? []).contains { $0.status == 1 || $0.status == 4 }
  }
}

private func date(_ text: String) throws -> Date {
  try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains(".")))
}

/// Writes a time with milliseconds. The formatter cuts off the rest, and a sum of binary fractions may be a little less.
private func text(_ date: Date) -> String {
  date.addingTimeInterval(0.000_5).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
}
