// The worker that writes decoded records, for consumers that cannot verify a signed token.

internal import AppStore
internal import AppStoreServerAPI
package import MillraceRecords
package import MillraceWorker

/// Writes each notification, and each token inside it, as flat JSON. See `docs/decoder.md`.
package struct DecoderWorker: NotificationWorker {
  package typealias Settings = DecoderSettings

  /// The name in topics, consumer group and ledger.
  package static let name = "decoder"
  /// Every family, and the refunds that were found in Apple's refund history.
  package static let families = NotificationFamily.all.union([.foundRefunds])
  /// The decoded topics.
  package static let outputTopics: Set<String> = [notificationsTopic, transactionsTopic]

  /// The topic with a record for each notification, without the deployment's prefix.
  package static let notificationsTopic = "appstore.decoded.notifications"
  /// The topic with a record for each inner token, without the deployment's prefix.
  package static let transactionsTopic = "appstore.decoded.transactions"

  /// The schema ids in the registry by topic; empty without a registry.
  private let schemaIds: [String: UInt32]

  /// Creates a worker. Registers the schemas if a registry is configured.
  /// - Throws: ``MillraceError`` if the registry does not accept them.
  package init(_ setup: WorkerSetup) async throws {
    let settings = try setup.settings(DecoderSettings.self)
    guard let registry = try SchemaRegistry(settings, setup.http) else {
      schemaIds = [:]
      return
    }
    var ids: [String: UInt32] = [:]
    for (topic, schema) in [
      (Self.notificationsTopic, DecodedSchema.notifications), (Self.transactionsTopic, DecodedSchema.transactions),
    ] {
      ids[topic] = try await registry.register(schema, for: setup.configuration.topics.prefix + topic)
    }
    schemaIds = ids
  }

  /// Writes the decoded records of one notification.
  package func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let decoded = DecodedNotification(notification)
    var outcome = Outcome.ignore
    if let row = decoded.row {
      outcome = outcome.writing(record(row, Self.notificationsTopic, kind: "notification", of: notification))
    }
    for token in decoded.tokens {
      outcome = outcome.writing(
        record(token.row, Self.transactionsTopic, kind: token.kind.rawValue, of: notification))
    }
    return outcome
  }

  private func record(
    _ row: JSONObject, _ topic: String, kind: String, of notification: AppStoreNotification
  ) -> OutputRecord {
    var value: [UInt8] = []
    var contentType = "application/json"
    if let id = schemaIds[topic] {
      // Confluent's wire format: a zero, and the id of the schema.
      value = [0] + withUnsafeBytes(of: id.bigEndian, Array.init)
      contentType = "application/octet-stream"
    }
    value += row.serialized()
    var record = OutputRecord(topic: topic, key: notification.key, value: value, contentType: nil)
    record.headers =
      CloudEvent(
        id: notification.id, source: "millrace/decoder/\(kind)", type: "dev.millrace.decoded.\(kind)",
        subject: notification.key, time: notification.signedDate, contentType: contentType,
        traceParent: notification.traceParent
      ).headers
    return record
  }
}
