// What happens in the world, and the records that the ingress would have written of it.

import AppStore
import AppStoreSignature
import AppStoreSigning
import Clocks
import Kafka
import MillraceTesting
import Testing

@testable import AppStoreSimulator
@testable import Millrace
@testable import Refunds

extension RefundStage {
  /// Since when there is a world.
  var origin: Timestamp { simulator.origin }

  /// A new customer who buys that.
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

  /// Everything the world has sent about refunds from that notification on.
  func told(from sequence: Int64 = 0) -> [AppStoreSimulator.NotificationRecord] {
    simulator.world.withState { state in
      state.realms[0].log.records.filter {
        $0.facts.sequence >= sequence && Self.types.contains($0.facts.kind.type)
      }
    }
  }

  private static let types: Set<NotificationTypeV2> = [.refund, .refundReversed, .refundDeclined, .revoke]

  var nextSequence: Int64 { simulator.world.withState { $0.realms[0].log.nextSequence } }

  /// The version 2 notification on its way to Kafka.
  func v2(_ record: AppStoreSimulator.NotificationRecord) throws -> ProducerRecord {
    let subject = simulator.world.withState { $0.subject(of: record) }
    let jws = Array(try simulator.signatory.signedPayload(subject).utf8)
    let payload = ResponseBodyV2DecodedPayload(json: try UnverifiedToken(parsing: jws).payload)
    guard case .object(let data)? = payload.json["data"], let token = data["signedTransactionInfo"]?.text else {
      throw Unexpected()
    }
    let transaction = JWSTransactionDecodedPayload(json: try UnverifiedToken(parsing: Array(token.utf8)).payload)
    return Millrace.NotificationRecord.v2(
      jws: jws, payload: payload, transaction: transaction, renewalInfo: nil, appTransaction: nil, origin: .post,
      traceParent: nil, router: try Self.router()
    ).producerRecord
  }

  /// The same event as version 1 tells it; nil where it tells nothing.
  func v1(_ record: AppStoreSimulator.NotificationRecord) throws -> ProducerRecord? {
    let (subject, product) = simulator.world.withState { state -> (SubjectV1?, ProductType) in
      guard case .purchase(let transaction, _, _) = record.facts.content else { return (nil, .consumable) }
      return (state.subjectV1(of: record), state.product(of: transaction).type)
    }
    guard let subject, let type = record.facts.kind.typesV1(of: product).first else { return nil }
    return try v1(body: subject.body(type))
  }

  /// A version 1 body on its way to Kafka.
  func v1(body bytes: [UInt8]) throws -> ProducerRecord {
    Millrace.NotificationRecord.v1(
      value: bytes, body: try ResponseBodyV1(parsing: bytes), bundleId: Self.bundleId, receivedAt: clock.wallTime,
      origin: .post, traceParent: nil, router: try Self.router()
    ).producerRecord
  }

  /// Sends everything to the worker once more, as an operator does.
  func replay(mode: String) throws {
    for record in log.records(in: NotificationFamily.refunds.topic) {
      try log.append(
        ProducerRecord(
          topic: topics.replay, partition: record.partition, key: record.key, value: record.value,
          headers: record.headers + [
            RecordHeader("ce_replayid", "again"), RecordHeader("millrace-replay-mode", mode),
          ]))
    }
  }

  private static func router() throws -> NotificationRouter {
    try NotificationRouter([
      TopicDefinition(name: NotificationFamily.refunds.topic, notifications: .init(unrecognized: true))
    ])
  }

  struct Unexpected: Error {}
}
