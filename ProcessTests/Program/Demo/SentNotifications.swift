// Reads the simulator's file of delivery attempts and derives the expected result of each attempt.
import AppStore
import MillraceRecords
import ScenarioRig

enum SentNotifications {
  /// Every attempt of `appstore-simulator run --write-sent`, in order.
  ///
  /// - Parameter secret: The version 1 secret, which no record may contain.
  static func entries(_ lines: [Substring], secret: String) throws -> [JournalEntry] {
    try lines.map { try entry(try JSONObject(parsing: Array($0.utf8)), secret: secret) }
  }

  private static func entry(_ attempt: JSONObject, secret: String) throws -> JournalEntry {
    guard let type = attempt.text("type"), let body = attempt.text("body") else {
      throw RunError("the simulator's file of attempts has a line without type or body")
    }
    let isV1 = type.hasPrefix("V1 ")
    var entry =
      try isV1 ? version1(type, body: body, secret: secret) : version2(type, body: body)
    entry.status = attempt.number("status").map { Int($0) } ?? 0
    entry.isFirst = attempt.number("attempt") == 1 && attempt["duplicate"] == .bool(false)
    return entry
  }

  private static func version2(_ type: String, body: String) throws -> JournalEntry {
    guard let jws = try JSONObject(parsing: Array(body.utf8)).text("signedPayload") else {
      throw RunError("the simulator posted a body without signedPayload")
    }
    let payload = try Self.payload(of: jws)
    var entry = genuine(.v2, type, value: Array(jws.utf8))
    entry.type = payload.text("notificationType").map { "com.apple.appstore.notification.v2." + $0 }
    if case .object(let data)? = payload["data"], let transaction = data.text("signedTransactionInfo") {
      entry.key = try Self.payload(of: transaction).text("originalTransactionId")
    }
    return entry
  }

  private static func version1(_ type: String, body: String, secret: String) throws -> JournalEntry {
    // Text replacement instead of the ingress's parser, so the expectation shares no code with the system under test.
    let stored = body.replacing("\"password\":\"\(secret)\",", with: "", maxReplacements: 1)
    guard stored != body, !stored.contains(secret) else {
      throw RunError("the simulator's version 1 body does not carry the shared secret once")
    }
    let json = try JSONObject(parsing: Array(body.utf8))
    var entry = genuine(.v1, type, value: Array(stored.utf8))
    entry.type = json.text("notification_type").map { "com.apple.appstore.notification.v1." + $0 }
    entry.key = json.text("original_transaction_id")
    return entry
  }

  private static func genuine(_ group: JournalEntry.Group, _ label: String, value: [UInt8]) -> JournalEntry {
    JournalEntry(
      group: group, label: label, expectedStatus: 200, status: 0, destination: .notifications, value: value)
  }

  /// Decodes the payload of a token to find the expected headers. Not verified: that is the ingress's task.
  private static func payload(of jws: String) throws -> JSONObject {
    let segments = jws.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard segments.count == 3, let payload = Base64.decodeURL(Array(segments[1])) else {
      throw RunError("the simulator sent a body that is not a token")
    }
    return try JSONObject(parsing: payload)
  }
}
