// Failures of a mass extension. Apple forgets a request after an hour, and then extends the subscription again. Within the
// hour the worker repeats a request without a question.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSigning
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

@testable internal import PlantedRenewalExtensions
@testable internal import PlantedWorker

final class ExtensionsWorkload: Workload, @unchecked Sendable {
  private static let campaign = "5f0c1e0e-7a51-4b0e-9c55-0a8e4c1d2b3a"

  let apple: AppleModel
  /// Whether Apple has accepted the mass extension, so that the worker does not have to ask about it.
  private let isAccepted: Bool
  /// The subscriptions of the failures.
  private var failures: [String: String] = [:]
  private var extended: Set<String> = []
  private let subscriptions: ExtendedSubscriptions

  init(_ plan: Plan, _ apple: AppleModel) {
    self.apple = apple
    subscriptions = ExtendedSubscriptions(apple)
    isAccepted = plan.seed.isMultiple(of: 2)
  }

  let families = RenewalExtensionsWorker.families
  let outputTopics = RenewalExtensionsWorker.outputTopics
  let policy = RenewalExtensionsWorker.policy
  let family = NotificationFamily.renewalExtensions

  func runtime(_ start: ProcessStart) async throws -> WorkerRuntime {
    try await start.runtime(RenewalExtensionsWorker.self, apple)
  }

  func prepare(at now: Timestamp) -> [ProducerRecord] {
    var campaign = Campaign(
      id: Self.campaign, bundleId: apple.app.bundleId, environment: apple.app.environment, productId: "monthly",
      days: ExtendedSubscriptions.days, reason: .other, storefronts: nil, requestedAt: now, by: "operator")
    if isAccepted { campaign.state = .accepted }
    return [CampaignRecord.campaign(campaign).record(prefix: "")]
  }

  func post(_ number: Int, at now: Timestamp) throws -> [ProducerRecord] {
    let (id, isExtended) = ("n\(number)", number % 6 == 5)
    let subscription = "\(isExtended ? "extended" : "failed")-\(number)"
    let kind = isExtended ? SampleKind(.renewalExtended) : SampleKind(.renewalExtension, .failure)
    if isExtended { extended.insert(id) } else { failures[id] = subscription }
    return [
      try apple.notification(
        kind, id: id, about: subscriptions.transaction(of: subscription), signedAt: now, to: .renewalExtensions)
    ]
  }

  // MARK: - Apple

  func answer(to call: AppleCall) throws -> ExchangeAnswer {
    let path = Array(call.path.dropFirst(3))
    switch (path.first, path.count) {
    case ("extend", 4):
      return ExchangeAnswer(
        status: 200, body: AppleModel.json(["requestIdentifier": .string(path[3]), "complete": false]))
    default: return try subscriptions.answer(to: call)
    }
  }

  // MARK: - Checks

  func isDelayed(_ id: String) -> Bool { true }

  func problems(_ checker: Checker) -> [String] {
    var problems = subscriptions.repeated
    let done = failures.filter { checker.finished.contains($0.key) }
    for (name, isEligible) in [("extension.applied", true), ("extension.refused", false)] {
      let expected = done.filter { ExtendedSubscriptions.isEligible($0.value) == isEligible }
      problems += checker.once(name, for: Set(expected.keys))
    }
    problems += checker.once("extension.unclear", for: [])
    problems += Set(done.values).filter { ExtendedSubscriptions.isEligible($0) && !subscriptions.isExtended($0) }.map {
      "\($0) was not extended"
    }
    let (counted, expected) = (
      checker.counter(CampaignProgress.extended(Self.campaign)), extended.intersection(checker.finished).count
    )
    if checker.isExact, counted != expected { problems.append("\(counted) of \(expected) extensions counted") }
    return problems.sorted()
  }
}
