// The decoder, which writes every notification and its transaction as flat records.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSigning
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

@testable internal import PlantedDecoder
@testable internal import PlantedWorker

final class DecoderWorkload: Workload, @unchecked Sendable {
  let apple: AppleModel
  private let keys: Int
  private var posted: Set<String> = []

  init(_ plan: Plan, _ apple: AppleModel) { (self.apple, keys) = (apple, plan.keys) }

  let families = DecoderWorker.families
  let outputTopics = DecoderWorker.outputTopics
  let policy = DecoderWorker.policy
  let family = NotificationFamily.subscriptions

  func runtime(_ start: ProcessStart) async throws -> WorkerRuntime {
    try await start.runtime(DecoderWorker.self, apple, settings: DecoderSettings())
  }

  func post(_ number: Int, at now: Timestamp) throws -> [ProducerRecord] {
    let (key, id) = ("k\(number % keys)", "n\(number)")
    posted.insert(id)
    let transaction = apple.transaction("\(key).\(number)", of: key, at: now)
    let (kind, family): (SampleKind, NotificationFamily) =
      number.isMultiple(of: 4) ? (SampleKind(.refundDeclined), .refunds) : (SampleKind(.didRenew), .subscriptions)
    return [
      try apple.notification(
        kind, id: id, about: transaction, status: .active, signedAt: now, to: family)
    ]
  }

  func answer(to call: AppleCall) throws -> ExchangeAnswer { AppleModel.refusal(404, 4_040_001) }

  func isDelayed(_ id: String) -> Bool { false }

  func problems(_ checker: Checker) -> [String] {
    let done = posted.intersection(checker.finished)
    return [DecoderWorker.notificationsTopic, DecoderWorker.transactionsTopic].flatMap { topic in
      let ids = checker.ids(in: topic)
      let missing = done.subtracting(ids).sorted().map { "no record of \($0) on \(topic)" }
      guard checker.isExact else { return missing }
      let repeated = Checker.repeated(ids).map { "several records of \($0) on \(topic)" }
      return missing + repeated
        + checker.wrongOrder(of: ids).map { "the records of \($0) on \(topic) are not in order" }
    }
  }
}
