// Payloads whose members are in Apple's order.
package import AppStore

/// The members of an object. A nil value omits the member, as Apple omits those that do not apply.
package typealias Members = KeyValuePairs<String, JSON?>

extension JSONObject {
  /// Creates an object with these members in order, without nil values. Names must be unique.
  package init(ordered members: Members) {
    self.init()
    self.members.reserveCapacity(members.count)
    for (name, value) in members {
      if let value { self.members.append(Member(key: name, value: value)) }
    }
  }

  /// Compact JSON, like Apple's payloads.
  package var bytes: [UInt8] { JSON.object(self).serialized() }
}

extension JSON {
  package static func date(_ timestamp: Timestamp) -> JSON { .integer(timestamp.millisecondsSince1970) }

  package static func token(_ jws: [UInt8]) -> JSON { .string(String(decoding: jws, as: UTF8.self)) }
}
