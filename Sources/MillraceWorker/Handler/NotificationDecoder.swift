// Decodes records into notifications. Workers verify signatures again, because write access to a topic must not be
// enough to revoke a purchase.

internal import AppStore
package import AppStoreSignature
package import KafkaClient
package import MillraceRecords

/// Decodes the notifications that handlers receive.
package protocol NotificationDecoding: Sendable {
  /// Returns the notification in a record. `envelope` and `history` contain the values of its headers.
  func decode(
    _ record: ConsumerRecord, envelope: NotificationEnvelope, history: DeliveryHistory
  ) async throws(UndecodableRecord) -> AppStoreNotification
}

/// Decodes and verifies records. All lanes share one decoder.
package struct NotificationDecoder: NotificationDecoding {
  private let verifier: SignedDataVerifier
  private let identities: IdentityPolicy

  package init(verifier: SignedDataVerifier, identities: IdentityPolicy) {
    self.verifier = verifier
    self.identities = identities
  }

  package func decode(
    _ record: ConsumerRecord, envelope: NotificationEnvelope, history: DeliveryHistory
  ) async throws(UndecodableRecord) -> AppStoreNotification {
    guard let bytes = record.value else {
      throw UndecodableRecord(reason: .tombstone, description: "a record on \(record.topic) has no value")
    }
    guard let version = envelope.version, let id = envelope.id else {
      let problems = envelope.problems.map(\.description).joined(separator: ", ")
      throw UndecodableRecord(reason: .headers, description: problems.isEmpty ? "no ce_type or no ce_id" : problems)
    }
    switch version {
    case .v2:
      return try await decodeV2(bytes, record, envelope, history)
    case .found:
      return try await decodeFound(bytes, id, record, envelope, history)
    case .request:
      let request: ImportRecord?
      do {
        request = try ImportRecord(bytes, bundleId: envelope.bundleId, environment: envelope.environment)
      } catch {
        throw UndecodableRecord(reason: .malformed, description: "not a request: \(error)")
      }
      guard let request, request.id == id else {
        throw UndecodableRecord(reason: .headers, description: "ce_id does not match the request")
      }
      try Self.check(request.transactionId, record, envelope)
      return AppStoreNotification(
        id: id, event: .importRequest, content: .request, key: request.transactionId, bundleId: request.bundleId,
        environment: request.environment, signedDate: nil, bytes: bytes, history: history,
        traceParent: envelope.traceParent)
    case .v1:
      do {
        let body = try ResponseBodyV1(parsing: bytes)
        let key = OrderingKey.of(body) ?? id
        try Self.check(key, record, envelope)
        var notification = AppStoreNotification(
          id: id, event: body.notification_type.map { .v1($0) } ?? .unrecognized(nil, nil), content: .v1(body),
          key: key, bundleId: envelope.bundleId, environment: envelope.environment,
          signedDate: envelope.time, bytes: bytes, history: history, traceParent: envelope.traceParent)
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
    _ history: DeliveryHistory
  ) async throws(UndecodableRecord) -> AppStoreNotification {
    let transaction: JWSTransactionDecodedPayload
    do {
      transaction = try await verifier.verifyTransaction(bytes, identity: identities).payload
    } catch {
      throw UndecodableRecord(
        reason: error.reason == .format ? .malformed : .unverified, description: "\(error)",
        isTemporary: error.isTemporary)
    }
    guard let key = FoundRefundRecord.key(of: transaction), id == FoundRefundRecord.id(of: transaction) else {
      throw UndecodableRecord(reason: .headers, description: "ce_id does not match the signed transaction")
    }
    try Self.check(key, record, envelope)
    return AppStoreNotification(
      id: id, event: .foundRefund, content: .found(transaction), key: key, bundleId: transaction.bundleId,
      environment: transaction.environment, signedDate: transaction.signedDate, bytes: bytes, history: history,
      traceParent: envelope.traceParent)
  }

  private func decodeV2(
    _ bytes: [UInt8], _ record: ConsumerRecord, _ envelope: NotificationEnvelope, _ history: DeliveryHistory
  ) async throws(UndecodableRecord) -> AppStoreNotification {
    let verified: VerifiedNotification
    do {
      verified = try await verifier.verifyNotification(bytes, identity: identities)
    } catch {
      throw UndecodableRecord(
        reason: error.reason == .format ? .malformed : .unverified, description: "\(error)",
        isTemporary: error.isTemporary)
    }
    switch verified.inner {
    case .vouched, .verified: break
    case .mismatch(let mismatches):
      throw UndecodableRecord(
        reason: .unverified, description: mismatches.map(\.description).joined(separator: ", "))
    case .forged(let forgery):
      throw UndecodableRecord(reason: .unverified, description: forgery.description)
    }
    let payload = verified.payload
    // Apple's signature covers the payload but not Kafka's headers, so the payload takes precedence.
    let id = payload.notificationUUID.flatMap { $0.isEmpty ? nil : $0 }
    guard let id = id ?? envelope.id else {
      throw UndecodableRecord(reason: .headers, description: "the record has neither a notificationUUID nor a ce_id")
    }
    guard id == envelope.id else {
      throw UndecodableRecord(reason: .headers, description: "ce_id does not match the signed notificationUUID")
    }
    let key =
      OrderingKey.of(
        payload, transaction: verified.transaction?.payload, renewalInfo: verified.renewalInfo?.payload,
        appTransaction: verified.appTransaction?.payload) ?? id
    try Self.check(key, record, envelope)
    return AppStoreNotification(
      id: id, event: NotificationEvent(payload.notificationType, payload.subtype), content: .v2(verified),
      key: key, bundleId: payload.bundleId, environment: payload.environment, signedDate: payload.signedDate,
      bytes: bytes, history: history, traceParent: envelope.traceParent)
  }

  /// Checks that the record's key and `ce_subject` match the key computed from its value. Both determine the order of
  /// the record and the names that the handler uses, but neither is signed.
  private static func check(
    _ key: String, _ record: ConsumerRecord, _ envelope: NotificationEnvelope
  ) throws(UndecodableRecord) {
    guard let own = record.key, own.elementsEqual(key.utf8) else {
      throw UndecodableRecord(reason: .headers, description: "the record's key does not match its value")
    }
    guard envelope.subject == key else {
      throw UndecodableRecord(reason: .headers, description: "ce_subject does not match the record's value")
    }
  }
}
