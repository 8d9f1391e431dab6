// The posted bodies and their expected results. Forgeries are stored as one JSON object per line.
import AppStore
import MillraceRecords
import ScenarioRig

/// One posted body.
struct JournalEntry: Sendable, Hashable {
  /// A row of the summary.
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

  /// The place where the bytes must be found afterwards.
  enum Destination: String, Sendable {
    /// A notification topic, once per accepted post.
    case notifications
    /// Exactly once in `millrace.quarantine`.
    case quarantine
    /// In no topic.
    case nowhere
  }

  var group: Group
  /// The type and subtype, or the fault.
  var label: String
  /// The expected HTTP status.
  var expectedStatus: Int
  /// The received HTTP status; 0 if there was none.
  var status: Int
  var destination: Destination
  /// The bytes that must be in Kafka, or must not be there.
  var value: [UInt8]
  /// The expected record key, if any.
  var key: String?
  /// The expected `ce_type`, if any.
  var type: String?
  /// Whether this is the first post of the body.
  var isFirst = true

  var isAnsweredAsExpected: Bool { status == expectedStatus }

  /// A forgery as a line of the journal. Genuine bodies are in the simulator's file of attempts.
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
  /// Parses a ``line``.
  init(line: String) throws {
    let object = try JSONObject(parsing: Array(line.utf8))
    guard let group = object.text("group").flatMap(Group.init), let label = object.text("label"),
      let destination = object.text("destination").flatMap(Destination.init), let status = object.number("status"),
      let expectedStatus = object.number("expectedStatus"),
      let value = object.text("value").flatMap({ Base64.decodeStandard(Array($0.utf8)) })
    else { throw RunError("the journal has a line that this program did not write") }
    self.init(
      group: group, label: label, expectedStatus: Int(expectedStatus), status: Int(status),
      destination: destination, value: value)
  }
}
