// The simulated customers, and the records that the ingress would write.

import AppStore
import AppStoreSignature
import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceTesting
import Testing

@testable import AppStoreSimulator
@testable import MillraceRecords
@testable import Refunds

extension RefundStage {
  /// The start of the simulation.
  var origin: Timestamp { simulator.origin }

  /// A new customer buys a product.
  func buy(
    _ product: String = coins, quantity: Int64 = 1, ownership: InAppOwnershipType = .purchased,
    at time: Timestamp? = nil
  ) throws -> Int64 {
    let time = time ?? origin
    return try simulator.world.withState { state in
      let realm = try #require(state.realm(bundleId: Self.bundleId, environment: .production))
      let customer = try state.addCustomer(to: realm, at: time)
      return try state.purchase(product, by: customer, quantity: quantity, ownership: ownership, at: time)
    }
  }

  func happens(_ change: (inout WorldState) throws -> Void) throws {
    try simulator.world.withState { state in try change(&state) }
  }

  /// The notifications about refunds, from a sequence number on.
  func told(from sequence: Int64 = 0) -> [NotificationLogEntry] {
    simulator.world.withState { state in
      state.realms[0].log.records.filter {
        $0.facts.sequence >= sequence && Self.types.contains($0.facts.kind.type)
      }
    }
  }

  private static let types: Set<NotificationTypeV2> = [.refund, .refundReversed, .refundDeclined, .revoke]

  var nextSequence: Int64 { simulator.world.withState { $0.realms[0].log.nextSequence } }

  /// The version 2 notification as the ingress's record.
  func v2(_ record: NotificationLogEntry) throws -> ProducerRecord {
    let subject = simulator.world.withState { $0.subject(of: record) }
    let jws = Array(try simulator.signer.signedPayload(subject).utf8)
    let payload = ResponseBodyV2DecodedPayload(json: try UnverifiedToken(parsing: jws).payload)
    guard case .object(let data)? = payload.json["data"], let token = data["signedTransactionInfo"]?.text else {
      throw Unexpected()
    }
    let transaction = JWSTransactionDecodedPayload(json: try UnverifiedToken(parsing: Array(token.utf8)).payload)
    return NotificationRecord.v2(
      jws: jws, payload: payload, transaction: transaction, renewalInfo: nil, appTransaction: nil, origin: .post,
      traceParent: nil, router: try Self.router()
    ).producerRecord
  }

  /// The same event as a version 1 record; nil if version 1 has none.
  func v1(_ record: NotificationLogEntry) throws -> ProducerRecord? {
    try simulator.world.withState { $0.bodiesV1(of: record) }.first.map { try v1(body: $0) }
  }

  /// A version 1 body as the ingress's record.
  func v1(body bytes: [UInt8]) throws -> ProducerRecord {
    NotificationRecord.v1(
      value: bytes, body: try ResponseBodyV1(parsing: bytes), bundleId: Self.bundleId, receivedAt: clock.wallTime,
      origin: .post, traceParent: nil, router: try Self.router()
    ).producerRecord
  }

  private static func router() throws -> NotificationRouter {
    try NotificationRouter([
      TopicDefinition(name: NotificationFamily.refunds.topic, notifications: .init(unrecognized: true))
    ])
  }

  struct Unexpected: Error {}
}
