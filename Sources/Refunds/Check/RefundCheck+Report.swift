// The output of the check, as text and as JSON lines. Pure.

internal import AppStore
internal import AppStoreServerAPI

extension RefundCheck.Report {
  /// One line for a person.
  package var line: String {
    switch self {
    case .published(let transactionId, let customer):
      "published  transaction \(transactionId), found for the customer of \(customer.transactionId)"
    case .skipped(let item, let customer): "skipped  customer of \(customer.transactionId): \(item)"
    case .failed(let customer, let words): "failed  customer of \(customer.transactionId): \(words)"
    }
  }

  /// One object for a script, without a line feed.
  package var jsonLine: String {
    let json: JSONObject =
      switch self {
      case .published(let transactionId, let customer):
        [
          "event": "published", "transactionId": .string(transactionId), "asked": .string(customer.transactionId),
        ]
      case .skipped(let item, let customer):
        ["event": "skipped", "asked": .string(customer.transactionId), "detail": .string("\(item)")]
      case .failed(let customer, let words):
        ["event": "failed", "asked": .string(customer.transactionId), "detail": .string(words)]
      }
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}

extension RefundCheck.Summary {
  /// The summary in one line.
  package var sentence: String {
    let customers = asked == 1 ? "1 customer" : "\(asked) customers"
    let news = refunds == 1 ? "1 new refund" : "\(refunds) new refunds"
    return "Checked \(customers): \(news), \(reported) already reported by notifications, "
      + "\(published) published"
      + (skipped > 0 ? ", \(skipped == 1 ? "1 item" : "\(skipped) items") not as documented" : "")
      + (failed > 0 ? ", \(failed) customers failed." : ".")
  }
}
