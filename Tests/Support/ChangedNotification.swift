// Notifications that the simulator does not send: the contents of one that it does, changed and signed again.

package import AppStore
internal import AppStoreSignature
internal import AppStoreSigning
package import AppStoreSimulator
package import KafkaClient
internal import MillraceRecords

/// The contents of a version 2 notification, with decoded tokens.
package struct NotificationContents: Sendable {
  /// The payload. Its tokens are ``transaction`` and ``renewalInfo``.
  package var payload: ResponseBodyV2DecodedPayload
  /// The transaction; nil for no token.
  package var transaction: JWSTransactionDecodedPayload?
  /// The renewal info; nil for no token.
  package var renewalInfo: JWSRenewalInfoDecodedPayload?
}

extension WorkerStage {
  /// Returns the record of a notification of the simulator with other contents.
  package func v2(
    _ entry: NotificationLogEntry, changing change: (inout NotificationContents) throws -> Void
  ) throws -> ProducerRecord {
    let subject = world.withState { $0.subject(of: entry) }
    func payload(_ jws: String) throws -> JSONObject { try UnverifiedToken(parsing: Array(jws.utf8)).payload }
    let original = ResponseBodyV2DecodedPayload(json: try payload(try store.signer.signedPayload(subject)))
    var contents = NotificationContents(
      payload: original,
      transaction: try original.data?.signedTransactionInfo.map {
        JWSTransactionDecodedPayload(json: try payload($0))
      },
      renewalInfo: try original.data?.signedRenewalInfo.map { JWSRenewalInfoDecodedPayload(json: try payload($0)) })
    try change(&contents)
    func sign(_ json: JSONObject?) throws -> String? {
      try json.map { String(decoding: try store.chain.sign($0.serialized()), as: UTF8.self) }
    }
    // A summary has no data.
    if var data = contents.payload.data {
      data.signedTransactionInfo = try sign(contents.transaction?.json)
      data.signedRenewalInfo = try sign(contents.renewalInfo?.json)
      contents.payload.data = data
    }
    return NotificationRecord.v2(
      jws: try store.chain.sign(contents.payload.json.serialized()), payload: contents.payload,
      transaction: contents.transaction, renewalInfo: contents.renewalInfo, appTransaction: nil, origin: .post,
      traceParent: nil, router: router
    ).producerRecord
  }
}
