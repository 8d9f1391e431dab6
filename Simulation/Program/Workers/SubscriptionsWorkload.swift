// Renewals of subscriptions. Some come late and some end soon, and then the worker asks Apple.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSigning
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

@testable internal import PlantedSubscriptions
@testable internal import PlantedWorker

final class SubscriptionsWorkload: Workload, @unchecked Sendable {
  private struct Report {
    var transaction: TransactionPayload
    var signedAt: Timestamp
  }

  let apple: AppleModel
  private let keys: Int
  private var reports: [String: Report] = [:]

  init(_ plan: Plan, _ apple: AppleModel) { (self.apple, keys) = (apple, plan.keys) }

  let families = SubscriptionsWorker.families
  let outputTopics = SubscriptionsWorker.outputTopics
  let policy = SubscriptionsWorker.policy
  let family = NotificationFamily.subscriptions

  func runtime(_ start: ProcessStart) async throws -> WorkerRuntime {
    var settings = SubscriptionsSettings()
    settings.entitlementMargin = .seconds(5)
    return try await start.runtime(SubscriptionsWorker.self, apple, settings: settings)
  }

  func post(_ number: Int, at now: Timestamp) throws -> [ProducerRecord] {
    let (key, slot, id) = ("k\(number % keys)", number / keys, "n\(number)")
    let signedAt = slot % 4 == 3 ? now - .seconds(3_600) : now
    var transaction = apple.transaction("\(key).\(slot)", of: key, at: signedAt)
    if number % 5 == 2 { transaction.expiresDate = signedAt + .seconds(20) }
    reports[id] = Report(transaction: transaction, signedAt: signedAt)
    return [
      try apple.notification(
        SampleKind(.didRenew), id: id, about: transaction, status: .active, signedAt: signedAt, to: .subscriptions)
    ]
  }

  func answer(to call: AppleCall) throws -> ExchangeAnswer {
    guard call.path.dropLast().suffix(1) == ["subscriptions"], let key = call.path.last,
      var transaction = newest(of: key)?.transaction
    else { return AppleModel.refusal(404, 4_040_010) }
    transaction.signedDate = apple.now
    return try apple.statuses(
      of: transaction, transaction.expiresDate.map { $0 <= apple.now } ?? false ? .expired : .active)
  }

  private func newest(of key: String) -> Report? {
    reports.values.filter { $0.transaction.originalTransactionId == key }.max { $0.signedAt < $1.signedAt }
  }

  func isDelayed(_ id: String) -> Bool { false }

  func problems(_ checker: Checker) -> [String] {
    guard !checker.canOverwriteLedger else { return [] }
    let history = checker.rows(in: SubscriptionsWorker.subscriptionsTopic)
    let rows = history.compactMapValues(\.last)
    let done = Dictionary(
      grouping: reports.filter { checker.finished.contains($0.key) }.values, by: \.transaction.originalTransactionId)
    let backwards = history.filter { _, rows in
      let dates = rows.compactMap { $0.time("signedDate") }
      return zip(dates, dates.dropFirst()).contains { $0 > $1 }
    }
    return backwards.keys.sorted().map { "the row of \($0) went back to an older report" }
      + done.sorted { $0.key < $1.key }.compactMap { key, reports in
        guard let newest = reports.max(by: { $0.signedAt < $1.signedAt }) else { return nil }
        let row = rows[key] ?? JSONObject()
        guard let signedAt = row.time("signedDate"), signedAt >= newest.signedAt else {
          return "the row of \(key) is older than the report of \(newest.signedAt.rfc3339): \(row.serializedText)"
        }
        // An answer of Apple or a notification that a deleted topic has lost can be newer.
        let isNewer = signedAt > newest.signedAt && self.newest(of: key)?.signedAt != newest.signedAt
        return isNewer || row["transactionId"] == .string(newest.transaction.transactionId)
          ? nil : "the row of \(key) is not the report about \(newest.transaction.transactionId): \(row.serializedText)"
      }
  }
}
