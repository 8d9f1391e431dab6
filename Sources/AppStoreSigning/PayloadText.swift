// Payloads with their members in the order Apple writes them.
import AppStore

/// One member's value; nil leaves the member out, as Apple does with what does not apply.
typealias Members = KeyValuePairs<String, JSON?>

extension JSONObject {
  /// An object with these members in this order, without those that are nil.
  init(ordered members: Members) {
    self.init()
    for (name, value) in members {
      if let value { self[name] = value }
    }
  }

  /// Compact JSON, as Apple's payloads are.
  var bytes: [UInt8] { JSON.object(self).serialized() }
}

extension JSON {
  static func date(_ timestamp: Timestamp) -> JSON { .integer(timestamp.millisecondsSince1970) }

  static func token(_ jws: [UInt8]) -> JSON { .string(String(decoding: jws, as: UTF8.self)) }
}
