import AppStore
import MillraceTesting
import Millrace
import Kafka
import Clocks
import Testing

@testable import AppStoreSimulator
@testable import Operations
@testable import RenewalExtensions

@Suite(.timeLimit(.minutes(15))) struct CampaignStartTests {
  private static let massExtend: Set<AppStoreSimulator.APIEndpoint> = [.massExtendRenewalDate]

  private static func calls(_ rehearsal: Rehearsal) -> Int {
    rehearsal.services.report.asked.first { $0.endpoint == .massExtendRenewalDate }?.count ?? 0
  }

  private static func states(_ rehearsal: Rehearsal) throws -> [String] {
    try rehearsal.log.records(in: CampaignRecord.topic).compactMap { record in
      guard case .campaign(let campaign) = try CampaignRecord(record.value ?? []) else { return nil }
      return campaign.state.rawValue
    }
  }

  @Test func `a campaign is written down before Apple is asked, and accepted afterwards`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.settle(5)
    let campaign = try await rehearsal.startCampaign()
    #expect(try Self.states(rehearsal) == ["requested", "accepted"])
    #expect(Self.calls(rehearsal) == 1)
    let table = try await rehearsal.campaigns.table()
    #expect(table.campaigns.map(\.id) == [campaign.id] && table[campaign.id]?.state == .accepted)
    // Apple is asked whether it is done, and its word closes the window.
    try rehearsal.pass(.seconds(3 * 3_600))
    let done = try await rehearsal.start().refresh(campaign)
    #expect(done.completion != nil)
    #expect(try await rehearsal.campaigns.table()[campaign.id]?.completion == done.completion)
    #expect(rehearsal.services.report.broken.isEmpty)
  }

  @Test func `an answer that was lost leaves it unclear, and resuming asks Apple before it asks again`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.settle(5)
    rehearsal.inject(Fault(.answerLost, endpoints: Self.massExtend, count: 1))
    let campaign = try rehearsal.draft()
    guard case .unclear = try await rehearsal.start().start(campaign, knowing: []) else {
      Issue.record("the answer was lost")
      return
    }
    #expect(try Self.states(rehearsal) == ["requested", "unclear"])
    rehearsal.time.advance(by: .seconds(60))
    let (resumed, result) = try await rehearsal.start().resume(campaign.id)
    #expect(resumed.id == campaign.id && result == .known && Self.calls(rehearsal) == 1)
    #expect(try Self.states(rehearsal).last == "accepted")
    await #expect(throws: OperationError.self) { try await rehearsal.start().resume(campaign.id) }
  }

  @Test func `a start that never reached Apple is resumed with the same identifier and the same bytes`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.settle(5)
    rehearsal.inject(Fault(.failure(status: 503, body: .empty), endpoints: Self.massExtend, count: 1))
    let campaign = try rehearsal.draft()
    guard case .unclear = try await rehearsal.start().start(campaign, knowing: []) else {
      Issue.record("a 503 says nothing about the effect")
      return
    }
    rehearsal.time.advance(by: .seconds(60))
    let (_, result) = try await rehearsal.start().resume(String(campaign.id.prefix(8)))
    #expect(result == .accepted && Self.calls(rehearsal) == 2)
    #expect(rehearsal.services.report.broken.isEmpty)
    #expect(try await rehearsal.campaigns.table()[campaign.id]?.requestedAt == campaign.requestedAt)
  }

  @Test func `a repeat that Apple refuses leaves the campaign as unclear as it was`() async throws {
    let rehearsal = try Rehearsal()
    var campaign = try rehearsal.draft()
    campaign.productId = "unknown"
    for state in [Campaign.State.unclear, .requested] {
      campaign.state = state
      try await rehearsal.campaigns.append([.campaign(campaign)])
      guard case .unclear = try await rehearsal.start().resume(campaign.id).1 else {
        Issue.record("\(state): what Apple says to the repeat says nothing about the first try")
        continue
      }
      #expect(try await rehearsal.campaigns.table()[campaign.id]?.state == .unclear)
    }
    #expect(Self.calls(rehearsal) == 2)
  }

  @Test func `a campaign is resumed with its own app's key, and with no other`() async throws {
    let rehearsal = try Rehearsal()
    var campaign = try rehearsal.draft()
    campaign.bundleId = "com.example.other"
    campaign.state = .unclear
    try await rehearsal.campaigns.append([.campaign(campaign)])
    let error = await #expect(throws: OperationError.self) { try await rehearsal.start().resume(campaign.id) }
    #expect(error?.kind == .usage && error?.what.contains("com.example.other") == true)
    #expect(rehearsal.services.report.asked.isEmpty)
    #expect(try await rehearsal.campaigns.table()[campaign.id]?.state == .unclear)

    campaign.bundleId = Rehearsal.bundleId
    let configuration = rehearsal.configuration
    for named in [nil, Rehearsal.bundleId] {
      let app = try CampaignStart.app(of: campaign, named: named, in: configuration)
      #expect(app.settings.bundleId == Rehearsal.bundleId && app.oneEnvironment == .production)
    }
    #expect(throws: OperationError.self) {
      try CampaignStart.app(of: campaign, named: "com.example.other", in: configuration)
    }
  }

  @Test func `what Apple refuses is no campaign`() async throws {
    let rehearsal = try Rehearsal()
    var campaign = try rehearsal.draft()
    campaign.productId = "unknown"
    guard case .refused = try await rehearsal.start().start(campaign, knowing: []) else {
      Issue.record("Apple has no such product")
      return
    }
    let refused = try await rehearsal.campaigns.table()[campaign.id]
    #expect(refused?.state == .refused && refused?.code == 4_000_023)
  }

  @Test func `campaigns whose failures could be mixed up are found, after Apple was asked whether they are done`()
    async throws
  {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.settle(5)
    let first = try await rehearsal.startCampaign()
    rehearsal.time.advance(by: .seconds(10))
    #expect(try await rehearsal.start().overlapping(try rehearsal.draft()).map(\.id) == [first.id])
    // Nobody told us that it is done; Apple does when it is asked.
    try rehearsal.pass(.seconds(5 * 3_600))
    #expect(try await rehearsal.start().overlapping(try rehearsal.draft()).isEmpty)
  }

  @Test func `of two operators who start at one moment none asks Apple`() async throws {
    let rehearsal = try Rehearsal()
    let (ann, bob) = (try rehearsal.draft(), try rehearsal.draft())
    try await rehearsal.campaigns.append([.campaign(bob)])
    #expect(try await rehearsal.start().start(ann, knowing: []) == .withdrawn(because: bob))
    #expect(Self.calls(rehearsal) == 0)
    #expect(try await rehearsal.campaigns.table()[ann.id]?.state == .refused)
    // Told of it, and asked for all the same.
    let third = try rehearsal.draft()
    #expect(try await rehearsal.start().start(third, knowing: [bob]) == .accepted)
  }

  @Test(arguments: [
    (CampaignDraft(product: "p", days: 0, reason: 3, storefronts: []), "--days"),
    (CampaignDraft(product: "p", days: 91, reason: 3, storefronts: []), "--days"),
    (CampaignDraft(product: "p", days: 7, reason: 4, storefronts: []), "--reason"),
    (CampaignDraft(product: "p", days: 7, reason: -1, storefronts: []), "--reason"),
    (CampaignDraft(product: "", days: 7, reason: 3, storefronts: []), "--product"),
    (CampaignDraft(product: "p", days: 7, reason: 3, storefronts: ["GERMANY"]), "--storefront"),
  ])
  func `a draft that Apple would refuse names its flag`(draft: CampaignDraft, flag: String) {
    let error = #expect(throws: OperationError.self) {
      try draft.campaign(
        id: CampaignStart.newID(), bundleId: "b", environment: .production, at: Campaign.origin, by: "ann")
    }
    #expect(error?.place == flag && error?.kind == .usage)
  }

  @Test func `storefronts are written as Apple writes them, each once`() throws {
    let draft = CampaignDraft(product: "p", days: 7, reason: 3, storefronts: ["deu", "AUT", "DEU"])
    let campaign = try draft.campaign(
      id: CampaignStart.newID(), bundleId: "b", environment: .production, at: Campaign.origin, by: "ann")
    #expect(campaign.storefronts == ["DEU", "AUT"] && campaign.request.violations().isEmpty)
    let plan = CampaignPlan(campaign, [.sample()]).lines.joined(separator: "\n")
    for part in ["p (b, Production)", "7 days", "DEU, AUT", "cannot be undone", "e-mail", Campaign.sample().id] {
      #expect(plan.contains(part), "\(part)")
    }
  }

  @Test func `a campaign is found by the beginning of its id, if only one begins so`() async throws {
    let rehearsal = try Rehearsal()
    try await rehearsal.campaigns.append([
      .campaign(.sample("aa0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11")),
      .campaign(.sample("ab0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11")),
    ])
    let survey = CampaignSurvey(rehearsal.campaigns, rehearsal.configuration.appStore)
    #expect(try await survey.campaign("AA").id.hasPrefix("aa0c"))
    for id in ["a", "c", ""] { await #expect(throws: OperationError.self, "\(id)") { try await survey.campaign(id) } }
  }

  @Test func `a cancellation stands beside the campaign and is given once`() async throws {
    let rehearsal = try Rehearsal()
    try await rehearsal.campaigns.append([.campaign(.sample())])
    let decisions = try CampaignDecisions(rehearsal.campaigns, author: "bob", clock: rehearsal.clock)
    let cancelled = try await decisions.cancel("1f", why: "the wrong product")
    #expect(cancelled.cancellation?.by == "bob")
    let stored = try await rehearsal.campaigns.table()[cancelled.id]
    #expect(stored == cancelled && stored?.state == .accepted)
    await #expect(throws: OperationError.self) { try await decisions.cancel("1f", why: "again") }
  }
}
