// The encoding of the state in the ledger: compact JSON. Every later version must be able to read it, so members may
// only be added.

internal import AppStore
internal import MillraceWorker

/// The ledger holds a state of a transaction that this version cannot read.
struct UnreadableState: Error {}

extension EntitlementState {
  /// Returns the name of a transaction's state in the ledger.
  static func name(of transactionId: String) -> String { "entitlement/\(transactionId)" }

  /// Decodes a state from the ledger; nil gives an empty state.
  /// - Throws: ``UnreadableState`` if a later version wrote an unknown format. To ignore it could revoke or reinstate
  ///   wrongly.
  init(kept bytes: [UInt8]?) throws(UnreadableState) {
    guard let bytes else {
      self.init()
      return
    }
    guard let object = Self.object(bytes), case .array(let elements)? = object["facts"] else {
      throw UnreadableState()
    }
    var facts: [EntitlementFact] = []
    for element in elements {
      guard case .object(let object) = element, let fact = EntitlementFact(kept: object) else {
        throw UnreadableState()
      }
      facts.append(fact)
    }
    self.init(facts: facts)
  }

  /// The encoded state.
  var kept: [UInt8] {
    JSONObject([.init(key: "facts", value: .array(facts.map { .object($0.kept) }))]).serialized()
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
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var whole: Int64? { if case .integer(let value) = self { value } else { nil } }
}
