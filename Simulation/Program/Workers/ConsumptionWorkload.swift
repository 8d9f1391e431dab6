// Consumption requests, some of them shortly before their deadline, and Apple's decisions. The team changes its answers
// now and then.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSigning
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

@testable internal import PlantedConsumption
@testable internal import PlantedWorker

final class ConsumptionWorkload: Workload, @unchecked Sendable {
  let apple: AppleModel
  private let keys: Int
  /// The requests, with the times at which Apple signed them.
  private var asked: [String: Timestamp] = [:]
  private var decisions: Set<String> = []
  /// The answers that Apple received, by transaction.
  private var journal: [String: Set<[UInt8]>] = [:]

  init(_ plan: Plan, _ apple: AppleModel) { (self.apple, keys) = (apple, plan.keys) }

  let families = ConsumptionWorker.families
  let outputTopics = ConsumptionWorker.outputTopics
  let policy = ConsumptionWorker.policy
  let family = NotificationFamily.consumptionRequests
  let tables: Set<String> = [ConsumptionSettings.answersTopic]

  func runtime(_ start: ProcessStart) async throws -> WorkerRuntime {
    var settings = ConsumptionSettings()
    settings.providers = [.topic]
    return try await start.runtime(ConsumptionWorker.self, apple, settings: settings)
  }

  func post(_ number: Int, at now: Timestamp) throws -> [ProducerRecord] {
    let id = "n\(number)"
    guard number % 7 != 6 else {
      decisions.insert(id)
      let transaction = transaction(number - 1, at: now)
      return [
        try apple.notification(SampleKind(.refundDeclined), id: id, about: transaction, signedAt: now, to: .refunds)
      ]
    }
    // The age of a request that Apple has posted several times.
    let age: Duration =
      number.isMultiple(of: 4)
      ? ConsumptionDeadline.time - .seconds(SeedGenerator.number(1...600)) : .seconds(SeedGenerator.number(0...600))
    let signedAt = now - age
    asked[id] = signedAt
    let request = try apple.notification(
      SampleKind(.consumptionRequest), id: id, about: transaction(number, at: signedAt), signedAt: signedAt,
      to: .consumptionRequests)
    // The team knows more about the customers who asked before.
    return (max(0, number - 5)..<number).map(answer) + [answer(number), request]
  }

  private func transaction(_ number: Int, at time: Timestamp) -> TransactionPayload {
    apple.transaction("c\(number)", of: "k\(number % keys)", product: "coins", type: .consumable, at: time)
  }

  /// Returns the team's answer, which is another one each time.
  func answer(_ number: Int) -> ProducerRecord {
    var answer = ConsumptionAnswer()
    answer.customerConsented = true
    answer.deliveryStatus = .delivered
    answer.sampleContentProvided = false
    answer.consumptionPercentage = SeedGenerator.number(1...100_000)
    return ProducerRecord(
      topic: ConsumptionSettings.answersTopic, key: Array("c\(number)".utf8), value: answer.json.serialized())
  }

  func answer(to call: AppleCall) throws -> ExchangeAnswer {
    guard call.path.dropLast().suffix(1) == ["consumption"], let transaction = call.path.last else {
      return AppleModel.refusal(404, 4_040_010)
    }
    journal[transaction, default: []].insert(call.body)
    return ExchangeAnswer(status: 202)
  }

  func isDelayed(_ id: String) -> Bool { true }

  func problems(_ checker: Checker) -> [String] {
    let done = Set(asked.keys).intersection(checker.finished)
    var problems = checker.once("consumption.sent", for: done)
    for name in ["withheld", "refused", "expired"] { problems += checker.once("consumption.\(name)", for: []) }
    if !checker.canOverwriteLedger {
      problems += journal.filter { $0.value.count > 1 }.map { "Apple got several answers about \($0.key)" }
    }
    problems += done.filter { journal["c\($0.dropFirst())"] == nil }.map { "Apple got no answer to \($0)" }
    // The risk is announced once, for each answer that came in the last hour or later.
    let late = done.filter { id in
      guard let sentAt = checker.events("consumption.sent", of: id).first?.time("sentAt"), let signedAt = asked[id]
      else {
        return false
      }
      return sentAt >= ConsumptionDeadline(signedDate: signedAt, receivedAt: signedAt).noticeAt
    }
    problems += checker.once("consumption.at-risk", by: "notificationUUID", in: "purchase", for: late)
    return problems.sorted()
  }
}
