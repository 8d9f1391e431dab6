// The customers' purchases, and the notifications about them as the ingress would write them.

package import AppStore
internal import AppStoreSignature
package import AppStoreSimulator
package import KafkaClient
internal import MillraceRecords
internal import Synchronization

extension WorkerStage {
  /// A new customer buys a product.
  package func purchase(
    _ product: String, quantity: Int64 = 1, ownership: InAppOwnershipType = .purchased, token: CompactUUID? = nil,
    at time: Timestamp
  ) throws -> Int64 {
    try world.withState { state in
      let customer = try state.addCustomer(to: 0, at: time)
      return try state.purchase(
        product, by: customer, quantity: quantity, ownership: ownership, appAccountToken: token, at: time)
    }
  }

  /// The sequence number of the App Store's next notification.
  package var nextSequence: Int64 { world.withState { $0.realms[0].log.nextSequence } }

  /// The App Store's notifications, from a sequence number on.
  package func entries(from sequence: Int64 = 0) -> [NotificationLogEntry] {
    world.withState { state in
      let log = state.realms[0].log
      return (min(sequence, log.nextSequence)..<log.nextSequence).compactMap { log[$0] }
    }
  }

  /// Returns the notifications since the last call.
  package func takePending() -> [NotificationLogEntry] {
    let pending = entries(from: state.withLock { $0.nextPending })
    if let last = pending.last { state.withLock { $0.nextPending = last.facts.sequence + 1 } }
    return pending
  }

  /// Returns the record of a version 2 notification.
  package func v2(_ entry: NotificationLogEntry) throws -> ProducerRecord {
    let subject = world.withState { $0.subject(of: entry) }
    let jws = Array(try store.signer.signedPayload(subject).utf8)
    let payload = ResponseBodyV2DecodedPayload(json: try UnverifiedToken(parsing: jws).payload)
    func token(_ text: String?) throws -> JSONObject? {
      try text.map { try UnverifiedToken(parsing: Array($0.utf8)).payload }
    }
    return NotificationRecord.v2(
      jws: jws, payload: payload,
      transaction: try token(payload.data?.signedTransactionInfo).map { JWSTransactionDecodedPayload(json: $0) },
      renewalInfo: try token(payload.data?.signedRenewalInfo).map { JWSRenewalInfoDecodedPayload(json: $0) },
      appTransaction: nil, origin: .post, traceParent: nil, router: router
    ).producerRecord
  }

  /// Returns the record of the version 1 notification about the same event, or nil if there is none.
  package func v1(_ entry: NotificationLogEntry) throws -> ProducerRecord? {
    try world.withState { $0.bodiesV1(of: entry) }.first.map { try v1(body: $0) }
  }

  /// Returns the record of a version 1 body.
  package func v1(body bytes: [UInt8]) throws -> ProducerRecord {
    NotificationRecord.v1(
      value: bytes, body: try ResponseBodyV1(parsing: bytes), bundleId: Self.bundleId, receivedAt: now, origin: .post,
      traceParent: nil, router: router
    ).producerRecord
  }
}
