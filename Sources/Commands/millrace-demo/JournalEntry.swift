// What was posted and what must come of it; forgeries as one JSON object a line.
import AppStore
import Processes

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
    /// In a notification topic, as often as it was accepted.
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
  /// The HTTP status that came; 0: none.
  var status: Int
  var destination: Destination
  /// The bytes that must be in Kafka; for what must not be there, the bytes that must not.
  var value: [UInt8]
  /// The record's key, where one is expected.
  var key: String?
  /// `ce_type`, where one is expected.
  var type: String?
  /// Whether it was posted for the first time.
  var isFirst = true

  var isAnsweredAsExpected: Bool { status == expectedStatus }

  /// An entry about a forgery as a line of the journal; genuine ones are in the simulator's file of attempts.
  var line: String {
    var object = JSONObject()
    object["group"] = .string(group.rawValue)
    object["label"] = .string(label)
    object["expectedStatus"] = .integer(Int64(expectedStatus))
    object["status"] = .integer(Int64(status))
    object["destination"] = .string(destination.rawValue)
    object["value"] = .string(String(decoding: Base64.encodeStandard(value), as: UTF8.self))
    return String(decoding: object.serialized(), as: UTF8.self)
  }
}

extension JournalEntry {
  /// Reads what ``line`` wrote.
  init(line: String) throws {
    let object = try JSONObject(parsing: Array(line.utf8))
    guard let group = object.text("group").flatMap(Group.init), let label = object.text("label"),
      let destination = object.text("destination").flatMap(Destination.init), let status = object.number("status"),
      let expectedStatus = object.number("expectedStatus"),
      let value = object.text("value").flatMap({ Base64.decodeStandard(Array($0.utf8)) })
    else { throw RunError("the journal has a line that this program did not write") }
    self.init(
      group: group, label: label, expectedStatus: expectedStatus, status: status, destination: destination,
      value: value)
  }
}
