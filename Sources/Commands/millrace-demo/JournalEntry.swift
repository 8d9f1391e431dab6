// What was posted and what must come of it, one JSON object a line.
import AppStore

/// One posted body.
struct JournalEntry: Sendable, Hashable {
  /// What a row of the summary is about.
  enum Group: String, Sendable, CaseIterable {
    case v2 = "V2 notifications"
    case v1 = "V1 notifications"
    case envelope = "forged: envelope, algorithm"
    case signature = "forged: signature"
    case chain = "forged: certificate chain"
    case identity = "genuine, not configured here"
    case inner = "forged: inner tokens"
    case v1Secret = "forged: V1 secret"
    case request = "not a notification"

    var isGenuine: Bool { self == .v2 || self == .v1 }
  }

  /// Where its bytes must be found afterwards.
  enum Destination: String, Sendable {
    /// Exactly once in a notification topic.
    case notifications
    /// Exactly once in `millrace.quarantine`.
    case quarantine
    /// Nowhere.
    case nowhere
  }

  var group: Group
  /// Type and subtype, or what is wrong with it.
  var label: String
  /// The HTTP status that is right for it.
  var expectedStatus: Int
  /// The HTTP status that came.
  var status: Int
  var destination: Destination
  /// The bytes that must be in Kafka; for what must not be there, the bytes that must not.
  var value: [UInt8]
  /// The record's key, where one is expected.
  var key: String?
  /// `ce_type`, where one is expected.
  var type: String?

  var isAnsweredAsExpected: Bool { status == expectedStatus }

  var line: String {
    var object = JSONObject()
    object["group"] = .string(group.rawValue)
    object["label"] = .string(label)
    object["expectedStatus"] = .integer(Int64(expectedStatus))
    object["status"] = .integer(Int64(status))
    object["destination"] = .string(destination.rawValue)
    object["value"] = .string(String(decoding: Base64.encodeStandard(value), as: UTF8.self))
    object["key"] = key.map { .string($0) }
    object["type"] = type.map { .string($0) }
    return String(decoding: object.serialized(), as: UTF8.self)
  }
}

extension JournalEntry {
  /// Reads what ``line`` wrote.
  init(line: String) throws {
    let object = try JSONObject(parsing: Array(line.utf8))
    func text(_ name: String) -> String? {
      guard case .string(let text)? = object[name] else { return nil }
      return text
    }
    func number(_ name: String) -> Int? {
      guard case .integer(let number)? = object[name] else { return nil }
      return Int(number)
    }
    guard let group = text("group").flatMap(Group.init), let label = text("label"),
      let destination = text("destination").flatMap(Destination.init), let status = number("status"),
      let expectedStatus = number("expectedStatus"),
      let value = text("value").flatMap({ Base64.decodeStandard(Array($0.utf8)) })
    else { throw DemoError("the journal has a line that this program did not write") }
    self.init(
      group: group, label: label, expectedStatus: expectedStatus, status: status, destination: destination,
      value: value, key: text("key"), type: text("type"))
  }
}

/// What stopped a step, in a sentence.
struct DemoError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
