// The state of a customer's subscription or purchase, for people and for scripts. Pure.

package import AppStore
internal import MillraceRecords

/// What Millrace knows about one key.
package struct CustomerState: Sendable, Hashable {
  /// The key of the records: an original transaction, or the transaction of a purchase.
  package var key: String
  /// The row of `appstore.subscriptions` or `appstore.purchases`, or else of `appstore.entitlements`; nil if there is none.
  package var row: JSONObject?
  /// The time of the last erasure; nil if there was none, or if it is unknown.
  package var erasedAt: Timestamp?

  /// Creates a state.
  package init(key: String, row: JSONObject?, erasedAt: Timestamp?) {
    (self.key, self.row, self.erasedAt) = (key, row, erasedAt)
  }

  /// Whether the customer is entitled; nil if no row says so. Of a consumable only a refund is known, and the refund of one
  /// transaction does not end a subscription.
  package func isEntitled(at now: Timestamp) -> Bool? {
    guard let row else { return nil }
    if case .bool(let isRevoked)? = row["revoked"] {
      return isRevoked && row.text("productType") != ProductType.autoRenewableSubscription.rawValue ? false : nil
    }
    if case .bool(let owned)? = row["owned"] { return owned }
    return row.text("entitledUntil").flatMap { Timestamp(rfc3339: $0) }.map { $0 > now } ?? false
  }

  /// `yes, until 2026-02-01T01:00:00.000Z`, or `no` with the reason.
  package func entitlement(at now: Timestamp) -> String {
    guard let row else {
      return erasedAt.map { "not known: the customer was erased at \($0.rfc3339)" }
        ?? "not known: there is no subscription or purchase \(key)"
    }
    if row["revoked"] != nil {
      guard row["revoked"] == .bool(true) else { return "not known: the refund of the transaction was reversed" }
      return isEntitled(at: now) == false
        ? "no, the transaction was revoked" : "not known: one transaction was revoked, and no row has the subscription"
    }
    let isEntitled = isEntitled(at: now) ?? false
    if row["owned"] != nil { return isEntitled ? "yes, the product is owned" : "no, the purchase was revoked" }
    let status = row.text("status") ?? "unknown"
    guard let until = row.text("entitledUntil") else { return "no, the status is \(status)" }
    return isEntitled ? "yes, until \(until)" : "no, since \(until), although the status is \(status)"
  }

  /// The facts above a timeline, in order.
  package func facts(at now: Timestamp) -> [(name: String, value: String)] {
    var facts = [("key", key), ("entitled", entitlement(at: now))]
    if row != nil, let erasedAt { facts.append(("erased", "\(erasedAt.rfc3339); later notifications brought it back")) }
    for name in ["status", "uncertain", "productId", "expiresDate", "autoRenews", "bundleId", "environment"] {
      guard let value = row?[name] else { continue }
      facts.append((name, value.oneLine))
    }
    return facts
  }

  /// The row and the answer as JSON.
  package func json(at now: Timestamp) -> JSONObject {
    var json = JSONObject()
    json["entitled"] = isEntitled(at: now).map { .bool($0) }
    json.set("erasedAt", erasedAt?.rfc3339)
    return JSONObject(json.members + (row?.members ?? []))
  }
}

extension JSON {
  /// The value as one line for a person.
  package var oneLine: String {
    if case .string(let text) = self { text } else { String(decoding: serialized(), as: UTF8.self) }
  }
}
