// The state as the ledger keeps it: compact JSON. It is read by every later version: members are only ever added.

internal import AppStore
internal import Millrace

extension EntitlementState {
  /// The name under which the ledger keeps the state of a transaction.
  static func name(of transactionId: String) -> String { "entitlement/\(transactionId)" }

  /// Reads what was kept; nil: nothing is known.
  /// - Throws: `PermanentFailure` where a later version wrote it: to forget it would be to revoke or reinstate by chance.
  init(kept bytes: [UInt8]?) throws(PermanentFailure) {
    guard let bytes else {
      self.init()
      return
    }
    guard let object = Self.object(bytes), case .array(let elements)? = object["facts"] else {
      throw Self.unreadable
    }
    var facts: [EntitlementFact] = []
    for element in elements {
      guard case .object(let object) = element, let fact = EntitlementFact(kept: object) else { throw Self.unreadable }
      facts.append(fact)
    }
    self.init(facts: facts)
  }

  /// What is to be kept.
  var kept: [UInt8] {
    JSONObject([.init(key: "facts", value: .array(facts.map { .object($0.kept) }))]).serialized()
  }

  private static var unreadable: PermanentFailure {
    PermanentFailure(
      "state-unreadable",
      "the ledger holds a state of this transaction that this version cannot read; run the version that wrote it")
  }

  private static func object(_ bytes: [UInt8]) -> JSONObject? {
    do { return try JSONObject(parsing: bytes) } catch { return nil }
  }
}

extension EntitlementFact {
  fileprivate init?(kept object: JSONObject) {
    guard let id = object["id"]?.text, let kind = object["kind"]?.text.flatMap({ Kind(rawValue: $0) }),
      let signed = object["signed"]?.whole
    else { return nil }
    var revocation: Revocation?
    if case .object(let object)? = object["revoked"] {
      guard let read = Revocation(kept: object) else { return nil }
      revocation = read
    }
    var answer: JSONObject?
    if case .object(let object)? = object["answer"] { answer = object }
    self.init(
      id: id, kind: kind, signedDate: Timestamp(millisecondsSince1970: signed), revocation: revocation, answer: answer)
  }

  fileprivate var kept: JSONObject {
    var object: JSONObject = [
      "id": .string(id), "kind": .string(kind.rawValue), "signed": .integer(signedDate.millisecondsSince1970),
    ]
    if let revocation { object["revoked"] = .object(revocation.kept) }
    if let answer { object["answer"] = .object(answer) }
    return object
  }
}

extension Revocation {
  fileprivate init?(kept object: JSONObject) {
    guard let kind = object["type"]?.text.flatMap({ Kind(rawValue: $0) }), let date = object["date"]?.whole else {
      return nil
    }
    self.init(
      kind: kind, percentage: object["percentage"]?.whole, reason: object["reason"]?.whole,
      date: Timestamp(millisecondsSince1970: date))
  }

  fileprivate var kept: JSONObject {
    var object: JSONObject = ["type": .string(kind.rawValue), "date": .integer(date.millisecondsSince1970)]
    if let percentage { object["percentage"] = .integer(percentage) }
    if let reason { object["reason"] = .integer(reason) }
    return object
  }
}

extension JSON {
  /// The text of a string.
  var text: String? { if case .string(let text) = self { text } else { nil } }
  /// The value of an integer.
  var whole: Int64? { if case .integer(let value) = self { value } else { nil } }
}
