// A record as a row on a terminal: the event first, its position last.

package import AppStore

extension RecordView {
  /// The columns of ``row``. The minimum widths fit ordinary records, so the table rarely widens.
  package static let columns: [TextColumn] = [
    TextColumn("TYPE", minimumWidth: 36),
    TextColumn("SIGNED", minimumWidth: 20),
    TextColumn("ENVIRONMENT"),
    TextColumn("APP", minimumWidth: 15),
    TextColumn("SUBJECT", minimumWidth: 16),
    TextColumn("PRODUCT", minimumWidth: 24),
    TextColumn("PRICE", minimumWidth: 9, alignment: .right),
    TextColumn("RECORD", minimumWidth: 18),
  ]

  /// The cells, one per column of ``columns``.
  package var row: [TextCell] {
    [
      TextCell(event, Self.style(of: type, refusal: refusal)),
      TextCell((signedDate ?? writtenAt).map(Self.seconds) ?? "", .dim),
      TextCell(environment ?? "", environment == AppStoreEnvironment.production.rawValue ? .plain : .cyan),
      TextCell(bundleId ?? ""),
      TextCell(subject ?? key ?? ""),
      TextCell(productId ?? ""),
      TextCell(price.map { HumanText.price(thousandths: $0, currency: currency) } ?? ""),
      TextCell("\(shortTopic)[\(partition)]@\(offset)", .dim),
    ]
  }

  /// The lines below the row: the ingress's refusal and problems with the record.
  package var notes: [TextCell] {
    var notes: [TextCell] = []
    if let refusal { notes.append(TextCell("refused: \(refusal), \(HumanText.size(size)), id \(id ?? "")", .red)) }
    if !problems.isEmpty { notes.append(TextCell(problems.joined(separator: "; "), .yellow)) }
    if let delivery { notes.append(TextCell(delivery, due == nil ? .red : .yellow)) }
    if let text { notes.append(TextCell(text, .dim)) }
    return notes
  }

  /// The payload as one line of JSON; nil if there is none.
  var payloadNote: TextCell? {
    let parts = [
      ("payload", payload), ("transaction", transaction), ("renewalInfo", renewalInfo),
      ("appTransaction", appTransaction),
    ].compactMap { name, object in object.map { JSONObject.Member(key: name, value: .object($0)) } }
    guard !parts.isEmpty else { return nil }
    return TextCell(String(decoding: JSONObject(parts).serialized(), as: UTF8.self), .dim)
  }

  /// The state of a delayed record or of a dead letter: `refunds: attempt 3, due 2026-01-31T12:00:00Z: timeout`.
  private var delivery: String? {
    guard let worker, let attempts else { return nil }
    let parts = ["\(worker): \(HumanText.count(attempts, "attempt"))", due.map { "due \(Self.seconds($0))" }, reason]
    return parts.compactMap(\.self).joined(separator: ", ")
  }

  private var event: String {
    switch content {
    case .tombstone: return "(tombstone)"
    case .foreign where type == nil: return "(\(HumanText.size(size)), not a notification)"
    case .json where type == nil: return "row" + (status.map { ": \($0)" } ?? "")
    case .json: return (type ?? "") + (status.map { ": \($0)" } ?? "")
    case .event: return type ?? "(no type)"
    case .v1, .v2, .foreign:
      let name = type ?? "(no type)"
      return (subtype.map { "\(name)/\($0)" } ?? name) + (content == .v1 ? " (V1)" : "")
    }
  }

  private var shortTopic: String {
    guard let range = topic.firstRange(of: TopicSelection.familyPrefix) else { return topic }
    return String(topic[..<range.lowerBound] + topic[range.upperBound...])
  }

  /// The time in RFC 3339, to the second.
  package static func seconds(_ moment: Timestamp) -> String { moment.rfc3339.prefix(19) + "Z" }

  private static func style(of type: String?, refusal: String?) -> TextStyle {
    guard refusal == nil else { return .red }
    switch type {
    case "SUBSCRIBED"?, "DID_RENEW"?, "ONE_TIME_CHARGE"?, "RENEWAL_EXTENDED"?, "REFUND_REVERSED"?, "OFFER_REDEEMED"?,
      "INITIAL_BUY"?, "INTERACTIVE_RENEWAL"?, "DID_RECOVER"?, "RENEWAL"?:
      return .green
    case "REFUND"?, "REVOKE"?, "entitlement.revoked"?, "subscription.revoked"?, "purchase.revoked"?, "EXPIRED"?,
      "GRACE_PERIOD_EXPIRED"?, "CANCEL"?:
      return .red
    case "DID_FAIL_TO_RENEW"?, "CONSUMPTION_REQUEST"?, "RENEWAL_EXTENSION"?, "RESCIND_CONSENT"?: return .yellow
    default: return .bold
    }
  }
}
