// Unsigned notifications for tests of records. Records are made after verification, so no signature is needed.

import AppStore
import KafkaClient
import TestEnvironment

@testable import MillraceRecords

enum RecordFixtures {
  static let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  static func object(_ json: String) throws -> JSONObject { try JSONObject(parsing: Array(json.utf8)) }

  static func payload(_ json: String) throws -> ResponseBodyV2DecodedPayload {
    ResponseBodyV2DecodedPayload(json: try object(json))
  }

  static func router() throws -> NotificationRouter {
    try TopicCatalog.load(directory: "\(Project.root)/topics", prefix: "", lanes: 12).router
  }

  /// Returns the headers of a record as text.
  static func headers(_ record: ProducerRecord) -> [String: String] {
    Dictionary(
      record.headers.map { ($0.name, String(decoding: $0.value ?? [], as: UTF8.self)) }, uniquingKeysWith: { $1 })
  }
}
