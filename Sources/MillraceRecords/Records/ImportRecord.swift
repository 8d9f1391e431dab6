// A customer from before Millrace: the request to ask Apple about a purchase. It contains no data about the purchase.

package import AppStore
package import KafkaClient

/// A request as it is written to `millrace.subscription-imports`.
///
/// The same request has the same id, so a worker handles it once, however often it is written.
package struct ImportRecord: Sendable, Hashable {
  /// The prefix of `ce_type`.
  package static let typePrefix = "dev.millrace.request."
  /// The rest of `ce_type`.
  package static let typeName = "IMPORT"

  /// The header of a request that the worker made to answer another one, with the `ce_id` of that one.
  package static let causeHeader = "ce_notificationid"

  /// The purchase to ask about: an `originalTransactionId`, or any transaction of the customer.
  package var transactionId: String
  /// The app.
  package var bundleId: String
  /// The environment.
  package var environment: AppStoreEnvironment
  /// Distinguishes a request from earlier ones about the same purchase; empty for the first.
  package var round: String
  /// The run that wrote the request; nil for a request of the worker.
  package var run: String?

  /// Creates a request.
  package init(
    _ transactionId: String, bundleId: String, environment: AppStoreEnvironment, round: String = "",
    run: String? = nil
  ) {
    (self.transactionId, self.bundleId) = (transactionId, bundleId)
    (self.environment, self.round, self.run) = (environment, round, run)
  }

  /// Reads the value of a record with the app and environment of its headers; nil if it is not a request.
  package init?(_ value: [UInt8], bundleId: String?, environment: AppStoreEnvironment?) throws {
    let object = try JSONObject(parsing: value)
    guard case .string(let id)? = object["transactionId"], let bundleId, let environment else { return nil }
    var round = ""
    if case .string(let text)? = object["round"] { round = text }
    self.init(id, bundleId: bundleId, environment: environment, round: round)
  }

  /// `ce_id`.
  package var id: String {
    "import-\(environment.rawValue)-\(bundleId)-\(transactionId)" + (round.isEmpty ? "" : "-\(round)")
  }

  private var value: [UInt8] {
    var object: JSONObject = ["transactionId": .string(transactionId)]
    if !round.isEmpty { object["round"] = .string(round) }
    return object.serialized()
  }

  private var headers: [RecordHeader] {
    var extensions = ["origin": NotificationOrigin.command.rawValue]
    extensions[AuditRecord.runAttribute] = run
    return CloudEvent(
      id: id, source: NotificationRecord.source(environment, bundleId), type: Self.typePrefix + Self.typeName,
      subject: transactionId, contentType: "application/json", extensions: extensions
    ).headers
  }

  /// Returns the Kafka record.
  /// - Parameter prefix: The prefix of the topic's name.
  package func producerRecord(prefix: String) -> ProducerRecord {
    ProducerRecord(
      topic: prefix + NotificationFamily.subscriptionImports.topic, key: Array(transactionId.utf8), value: value,
      headers: headers)
  }

  /// The topic, key, value and headers of the record, without the deployment's prefix.
  package var parts: (topic: String, key: String, value: [UInt8], headers: [RecordHeader]) {
    (NotificationFamily.subscriptionImports.topic, transactionId, value, headers)
  }
}
