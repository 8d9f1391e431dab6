// Refunds, their reversals and declined ones. Apple reports a refund twice: the second time as a version 2 notification
// for customers with an odd number, and as an unsigned hint for the others, about which the worker asks Apple.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSigning
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

@testable internal import PlantedRefunds
@testable internal import PlantedWorker

final class RefundsWorkload: Workload, @unchecked Sendable {
  private enum Kind { case refund, hint, reversed, declined }

  let apple: AppleModel
  private let keys: Int
  /// The notifications, with their transactions.
  private var posted: [String: (kind: Kind, transaction: String)] = [:]
  /// What Apple knows about each transaction.
  private var transactions: [String: TransactionPayload] = [:]

  init(_ plan: Plan, _ apple: AppleModel) { (self.apple, keys) = (apple, plan.keys) }

  let families = RefundsWorker.families
  let outputTopics = RefundsWorker.outputTopics
  let policy = RefundsWorker.policy
  let family = NotificationFamily.refunds

  func runtime(_ start: ProcessStart) async throws -> WorkerRuntime {
    try await start.runtime(RefundsWorker.self, apple)
  }

  func post(_ number: Int, at now: Timestamp) throws -> [ProducerRecord] {
    let (customer, slot, id) = (number % keys, number / keys, "n\(number)")
    let (key, purchase) = ("k\(customer)", slot / 3)
    let name = "\(key).\(purchase)"
    switch slot % 3 {
    case 0:
      var transaction = apple.transaction(name, of: key, at: now)
      transaction.revocation = .init(date: now, reason: .refundedDueToIssue, type: .refundFull, percentage: nil)
      transactions[name] = transaction
      return try [signed(.refund, id, transaction, now)]
    case 1:
      guard let transaction = transactions[name] else { return [] }
      guard customer.isMultiple(of: 2), let refund = transaction.revocation else {
        return try [signed(.refund, id, transaction, now)]
      }
      let record = try apple.hint(of: transaction, cancelledAt: refund.date, at: now)
      posted[Fleet.header("ce_id", of: record.headers)] = (.hint, name)
      return [record]
    default:
      guard !customer.isMultiple(of: 2), !purchase.isMultiple(of: 2), var transaction = transactions[name] else {
        return try [signed(.declined, id, apple.transaction("\(name).declined", of: key, at: now), now)]
      }
      transaction.revocation = nil
      transactions[name] = transaction
      return try [signed(.reversed, id, transaction, now)]
    }
  }

  private func signed(
    _ kind: Kind, _ id: String, _ transaction: TransactionPayload, _ now: Timestamp
  ) throws -> ProducerRecord {
    posted[id] = (kind, transaction.transactionId)
    let type: NotificationTypeV2 =
      switch kind {
      case .refund, .hint: .refund
      case .reversed: .refundReversed
      case .declined: .refundDeclined
      }
    return try apple.notification(SampleKind(type), id: id, about: transaction, signedAt: now, to: .refunds)
  }

  func answer(to call: AppleCall) throws -> ExchangeAnswer {
    guard call.path.dropLast().suffix(1) == ["transactions"],
      var transaction = call.path.last.flatMap({ transactions[$0] })
    else { return AppleModel.refusal(404, 4_040_010) }
    transaction.signedDate = apple.now
    return ExchangeAnswer(
      status: 200, body: AppleModel.json(["signedTransactionInfo": .string(try apple.signed(transaction.json))]))
  }

  func isDelayed(_ id: String) -> Bool { posted[id]?.kind == .hint }

  func problems(_ checker: Checker) -> [String] {
    let done = posted.filter { checker.finished.contains($0.key) }.map(\.value)
    func named(_ kinds: Set<Kind>) -> Set<String> { Set(done.filter { kinds.contains($0.kind) }.map(\.transaction)) }
    let (refunded, reversed) = (named([.refund, .hint]), named([.reversed]))
    let rows = checker.newest(in: RefundsWorker.entitlementsTopic)
    let wrong =
      checker.canOverwriteLedger
      ? [] : refunded.union(reversed).filter { rows[$0]?["revoked"] != .bool(!reversed.contains($0)) }
    // If the first report of a refund is lost with its topic, the second can come after the reversal.
    let late = checker.isRecreated ? reversed : []
    return checker.once("entitlement.revoked", by: "transactionId", for: refunded.subtracting(late), or: late)
      + checker.once("entitlement.reinstated", by: "transactionId", for: reversed)
      + checker.once("refund.declined", by: "transactionId", for: named([.declined]))
      + checker.once("refund.unconfirmed", by: "transactionId", for: [])
      + wrong.sorted().map { "the row of \($0) is \(rows[$0].map { "\($0.serializedText)" } ?? "missing")" }
  }
}
