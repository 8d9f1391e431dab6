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
  /// Whether anything names the key.
  package var finding: CustomerSearch.Finding
  /// The bodies of the quarantine that claim the key, the newest first. Nothing has verified them.
  package var quarantined: [QuarantineEntry]

  /// Creates a state.
  package init(
    key: String, row: JSONObject?, erasedAt: Timestamp?, finding: CustomerSearch.Finding = .absent,
    quarantined: [QuarantineEntry] = []
  ) {
    (self.key, self.row, self.erasedAt) = (key, row, erasedAt)
    (self.finding, self.quarantined) = (finding, quarantined)
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
        ?? "not known: \(absence)"
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

  /// The reason why there is no row, in one clause.
  private var absence: String {
    switch finding {
    case .found: "\(key) has no row: no worker has written it yet, or it is a consumable without a refund"
    case .unanswered(let problem): "no row or notification names \(key), and Apple gave no answer: \(problem)"
    case .absent where !quarantined.isEmpty: "only the quarantine names \(key), and nothing there is verified"
    case .absent: "there is no subscription or purchase \(key)"
    }
  }

  /// The sentences about a key without a row: the reason, and what to do.
  package var explanation: String {
    if let erasedAt { return "The customer \(key) was erased at \(erasedAt.rfc3339)." }
    let (start, importing) = (absence.prefix(1).uppercased() + absence.dropFirst(), "millrace subscriptions import")
    switch finding {
    case .found:
      return
        "\(start). Its notifications, if there are any: millrace timeline \(key). If it is a subscription from before "
        + "Millrace, import it: \(importing)"
    case .unanswered: return start + (claims.map { ". \($0)" } ?? "") + "."
    case .absent:
      return claims.map { "\(start): \($0). See millrace quarantine list" }
        ?? "\(start). If it is from before Millrace, import it: \(importing)"
    }
  }

  /// The bodies of the quarantine that claim the key, in one clause; nil if there are none.
  package var claims: String? {
    guard !quarantined.isEmpty else { return nil }
    let (count, shown) = (
      quarantined.count,
      quarantined.prefix(3).map { body in
        let purchase = body.claims.originalTransactionID.flatMap { $0 == key ? nil : " of \($0)" }
        return body.shownID + (purchase ?? "")
      }
    )
    let ids = shown.joined(separator: ", ") + (count > shown.count ? ", …" : "")
    return
      "\(HumanText.count(count, "body", plural: "bodies")) of the quarantine \(count == 1 ? "claims" : "claim") it, "
      + "unverified: \(ids)"
  }

  /// The facts above a timeline, in order.
  package func facts(at now: Timestamp) -> [(name: String, value: String)] {
    var facts = [("key", key), ("entitled", entitlement(at: now))]
    if row != nil, let erasedAt { facts.append(("erased", "\(erasedAt.rfc3339); later notifications brought it back")) }
    if let claims { facts.append(("quarantined", claims)) }
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
    if !quarantined.isEmpty { json["quarantined"] = .array(quarantined.map { .string($0.id) }) }
    return JSONObject(json.members + (row?.members ?? []))
  }
}

extension JSON {
  /// The value as one line for a person.
  package var oneLine: String {
    if case .string(let text) = self { text } else { String(decoding: serialized(), as: UTF8.self) }
  }
}
