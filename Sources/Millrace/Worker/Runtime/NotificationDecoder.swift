// From a record to a notification. Workers verify again: write access to a topic is no licence to revoke a purchase.

internal import AppStore
internal import AppStoreSignature
package import Kafka

/// What a handler gets its notifications from.
package protocol NotificationDecoding: Sendable {
  /// The notification that a record holds; `envelope` and `provenance` are what its headers say.
  func decode(
    _ record: ConsumerRecord, envelope: NotificationEnvelope, provenance: Provenance
  ) async throws(UndecodableRecord) -> Notification
}

/// Decodes and verifies records. One value serves all lanes.
struct NotificationDecoder: NotificationDecoding {
  private let verifier: SignedDataVerifier
  private let identities: IdentityPolicy

  init(verifier: SignedDataVerifier, identities: IdentityPolicy) {
    self.verifier = verifier
    self.identities = identities
  }

  func decode(
    _ record: ConsumerRecord, envelope: NotificationEnvelope, provenance: Provenance
  ) async throws(UndecodableRecord) -> Notification {
    guard let bytes = record.value else {
      throw UndecodableRecord(reason: .tombstone, description: "a record without value on \(record.topic)")
    }
    guard let version = envelope.version, let id = envelope.id else {
      let problems = envelope.problems.map(\.description).joined(separator: ", ")
      throw UndecodableRecord(reason: .headers, description: problems.isEmpty ? "no ce_type, no ce_id" : problems)
    }
    switch version {
    case .v2:
      return try await decodeV2(bytes, record, envelope, provenance)
    case .found:
      return try await decodeFound(bytes, id, record, envelope, provenance)
    case .v1:
      do {
        let body = try ResponseBodyV1(parsing: bytes)
        let key = OrderingKey.of(body) ?? id
        try Self.check(key, record, envelope)
        var notification = Notification(
          id: id, event: body.notification_type.map { .v1($0) } ?? .unrecognized(nil, nil), content: .v1(body),
          key: key, bundleId: envelope.bundleId, environment: envelope.environment,
          signedDate: envelope.time, bytes: bytes, provenance: provenance, traceParent: envelope.traceParent)
        notification.passwordPlace = envelope.passwordPlace
        return notification
      } catch let error as UndecodableRecord {
        throw error
      } catch {
        throw UndecodableRecord(reason: .malformed, description: "not a version 1 body: \(error)")
      }
    }
  }

  private func decodeFound(
    _ bytes: [UInt8], _ id: String, _ record: ConsumerRecord, _ envelope: NotificationEnvelope,
    _ provenance: Provenance
  ) async throws(UndecodableRecord) -> Notification {
    let transaction: JWSTransactionDecodedPayload
    do {
      transaction = try await verifier.verifyTransaction(bytes, identity: identities).payload
    } catch {
      throw UndecodableRecord(
        reason: error.reason == .format ? .malformed : .unverified, description: "\(error)",
        isTemporary: error.isTemporary)
    }
    guard let key = FoundRefundRecord.key(of: transaction), id == FoundRefundRecord.id(of: transaction) else {
      throw UndecodableRecord(reason: .headers, description: "ce_id is not that of the transaction that Apple signed")
    }
    try Self.check(key, record, envelope)
    return Notification(
      id: id, event: .foundRefund, content: .found(transaction), key: key, bundleId: transaction.bundleId,
      environment: transaction.environment, signedDate: transaction.signedDate, bytes: bytes, provenance: provenance,
      traceParent: envelope.traceParent)
  }

  private func decodeV2(
    _ bytes: [UInt8], _ record: ConsumerRecord, _ envelope: NotificationEnvelope, _ provenance: Provenance
  ) async throws(UndecodableRecord) -> Notification {
    let verified: VerifiedNotification
    do {
      verified = try await verifier.verifyNotification(bytes, identity: identities)
    } catch {
      throw UndecodableRecord(
        reason: error.reason == .format ? .malformed : .unverified, description: "\(error)",
        isTemporary: error.isTemporary)
    }
    switch verified.inner {
    case .verified: break
    case .mismatch(let mismatches):
      throw UndecodableRecord(
        reason: .unverified, description: mismatches.map(\.description).joined(separator: ", "))
    case .forged(let forgery):
      throw UndecodableRecord(reason: .unverified, description: forgery.description)
    }
    let payload = verified.payload
    // Apple's signature covers the payload, not Kafka's headers: what a header claims is not believed over it.
    let id = payload.notificationUUID.flatMap { $0.isEmpty ? nil : $0 }
    guard let id = id ?? envelope.id else {
      throw UndecodableRecord(reason: .headers, description: "neither notificationUUID nor ce_id")
    }
    guard id == envelope.id else {
      throw UndecodableRecord(reason: .headers, description: "ce_id is not the notificationUUID that Apple signed")
    }
    let key =
      OrderingKey.of(
        payload, transaction: verified.transaction, renewalInfo: verified.renewalInfo,
        appTransaction: verified.appTransaction) ?? id
    try Self.check(key, record, envelope)
    return Notification(
      id: id, event: NotificationEvent(payload.notificationType, payload.subtype), content: .v2(verified),
      key: key, bundleId: payload.bundleId, environment: payload.environment, signedDate: payload.signedDate,
      bytes: bytes, provenance: provenance, traceParent: envelope.traceParent)
  }

  /// What ordered the record, and will name what follows from it, has to be what the value says: neither a record's key
  /// nor its headers are signed.
  private static func check(
    _ key: String, _ record: ConsumerRecord, _ envelope: NotificationEnvelope
  ) throws(UndecodableRecord) {
    guard let own = record.key, own.elementsEqual(key.utf8) else {
      throw UndecodableRecord(reason: .headers, description: "the record's key is not that of its value")
    }
    guard envelope.subject == key else {
      throw UndecodableRecord(reason: .headers, description: "ce_subject is not the key of the record's value")
    }
  }
}
