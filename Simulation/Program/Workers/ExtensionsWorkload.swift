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
  private struct Extension {
    var request: String
    var at: Timestamp
  }

  private static let campaign = "5f0c1e0e-7a51-4b0e-9c55-0a8e4c1d2b3a"
  private static let days = 7

  let apple: AppleModel
  /// Whether Apple has accepted the mass extension, so that the worker does not have to ask about it.
  private let isAccepted: Bool
  /// The subscriptions of the failures.
  private var failures: [String: String] = [:]
  private var extended: Set<String> = []
  private var start = Timestamp(millisecondsSince1970: 0)
  /// What Apple did.
  private var journal: [String: [Extension]] = [:]

  init(_ plan: Plan, _ apple: AppleModel) {
    self.apple = apple
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
    start = now
    var campaign = Campaign(
      id: Self.campaign, bundleId: apple.app.bundleId, environment: apple.app.environment, productId: "monthly",
      days: Self.days, reason: .other, storefronts: nil, requestedAt: now, by: "operator")
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
        kind, id: id, about: transaction(of: subscription), signedAt: now, to: .renewalExtensions)
    ]
  }

  /// The subscription's period, which ends later if Apple has extended it.
  private func transaction(of subscription: String) -> TransactionPayload {
    var transaction = apple.transaction("\(subscription).1", of: subscription, at: start)
    let shift = Duration.seconds(86_400 * Self.days * (journal[subscription]?.count ?? 0))
    transaction.expiresDate = transaction.expiresDate.map { $0 + shift }
    return transaction
  }

  private static func isEligible(_ subscription: String) -> Bool { !subscription.hasSuffix("4") }

  // MARK: - Apple

  func answer(to call: AppleCall) throws -> ExchangeAnswer {
    let path = Array(call.path.dropFirst(3))
    switch (path.first, path.count) {
    case ("extend", 2): return try extend(path[1], call)
    case ("extend", 4):
      return ExchangeAnswer(
        status: 200, body: AppleModel.json(["requestIdentifier": .string(path[3]), "complete": false]))
    case (let subscription?, 1):
      var transaction = transaction(of: subscription)
      transaction.signedDate = apple.now
      return try apple.statuses(of: transaction, .active)
    default: return AppleModel.refusal(404, 4_040_001)
    }
  }

  private func extend(_ subscription: String, _ call: AppleCall) throws -> ExchangeAnswer {
    guard Self.isEligible(subscription) else { return AppleModel.refusal(403, 4_030_004) }
    let request = ExtendRenewalDateRequest(json: try JSONObject(parsing: call.body)).requestIdentifier ?? ""
    let before = journal[subscription, default: []]
    let isKnown = before.contains { $0.request == request && apple.now - $0.at < .seconds(3_600) }
    if !isKnown {
      guard before.count < 2 else { return AppleModel.refusal(403, 4_030_005) }
      journal[subscription, default: []].append(Extension(request: request, at: apple.now))
    }
    return ExchangeAnswer(
      status: 200,
      body: AppleModel.json([
        "originalTransactionId": .string(subscription), "webOrderLineItemId": "1", "success": true,
        "effectiveDate": transaction(of: subscription).expiresDate?.jsonValue ?? .null,
      ]))
  }

  // MARK: - Checks

  func isDelayed(_ id: String) -> Bool { true }

  func problems(_ checker: Checker) -> [String] {
    var problems = journal.filter { $0.value.count > 1 }.map { "Apple extended \($0.key) \($0.value.count) times" }
    let done = failures.filter { checker.finished.contains($0.key) }
    for (name, isEligible) in [("extension.applied", true), ("extension.refused", false)] {
      let expected = done.filter { Self.isEligible($0.value) == isEligible }
      problems += checker.once(name, for: Set(expected.keys))
    }
    problems += checker.once("extension.unclear", for: [])
    problems += Set(done.values).filter { Self.isEligible($0) && journal[$0] == nil }.map { "\($0) was not extended" }
    let (counted, expected) = (
      checker.counter(CampaignProgress.extended(Self.campaign)), extended.intersection(checker.finished).count
    )
    if checker.isExact, counted != expected { problems.append("\(counted) of \(expected) extensions counted") }
    return problems.sorted()
  }
}
