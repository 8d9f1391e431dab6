// Payloads with their members in the order Apple writes them.
package import AppStore

/// One member's value; nil leaves the member out, as Apple does with what does not apply.
package typealias Members = KeyValuePairs<String, JSON?>

extension JSONObject {
  /// An object with these members in this order, without those that are nil. No name may come twice.
  package init(ordered members: Members) {
    self.init()
    self.members.reserveCapacity(members.count)
    for (name, value) in members {
      if let value { self.members.append(Member(key: name, value: value)) }
    }
  }

  /// Compact JSON, as Apple's payloads are.
  package var bytes: [UInt8] { JSON.object(self).serialized() }
}

extension JSON {
  package static func date(_ timestamp: Timestamp) -> JSON { .integer(timestamp.millisecondsSince1970) }

  package static func token(_ jws: [UInt8]) -> JSON { .string(String(decoding: jws, as: UTF8.self)) }
}
