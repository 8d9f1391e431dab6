import AppStore
import MillraceTesting
import MillraceRecords
import KafkaClient
import MillraceTime
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Operations
@testable import RenewalExtensions
import MillraceCore

@Suite(.timeLimit(.minutes(15))) struct CampaignStartTests {
  private static let massExtend: Set<SimulatedEndpoint> = [.massExtendRenewalDate]

  private static func calls(_ rehearsal: Rehearsal) -> Int {
    rehearsal.services.report.asked.first { $0.endpoint == .massExtendRenewalDate }?.count ?? 0
  }

  private static func states(_ rehearsal: Rehearsal) throws -> [String] {
    try rehearsal.log.records(in: CampaignRecord.topic).compactMap { record in
      guard case .campaign(let campaign) = try CampaignRecord(record.value ?? []) else { return nil }
      return campaign.state.rawValue
    }
  }

  @Test func `a campaign is written before the request to Apple, and accepted afterwards`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.subscribe(5)
    let campaign = try await rehearsal.startCampaign()
    #expect(try Self.states(rehearsal) == ["requested", "accepted"])
    #expect(Self.calls(rehearsal) == 1)
    let table = try await rehearsal.campaigns.table()
    #expect(table.campaigns.map(\.id) == [campaign.id] && table[campaign.id]?.state == .accepted)
    // The command asks Apple whether it is complete, and the completion closes the window.
    try rehearsal.pass(.seconds(3 * 3_600))
    let done = try await rehearsal.start().refresh(campaign)
    #expect(done.completion != nil)
    #expect(try await rehearsal.campaigns.table()[campaign.id]?.completion == done.completion)
    #expect(rehearsal.services.report.broken.isEmpty)
  }

  @Test func `a lost response leaves it unclear, and resuming asks Apple for the status first`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.subscribe(5)
    rehearsal.inject(Fault(.answerLost, endpoints: Self.massExtend, count: 1))
    let campaign = try rehearsal.draft()
    guard case .unclear = try await rehearsal.start().start(campaign, knowing: []) else {
      Issue.record("the response was lost")
      return
    }
    #expect(try Self.states(rehearsal) == ["requested", "unclear"])
    rehearsal.time.advance(by: .seconds(60))
    let (resumed, result) = try await rehearsal.start().resume(campaign.id, by: "bob", knowing: [])
    #expect(resumed.id == campaign.id && result == .known && Self.calls(rehearsal) == 1)
    #expect(try Self.states(rehearsal).last == "accepted")
    await #expect(throws: OperationError.self) {
      try await rehearsal.start().resume(campaign.id, by: "bob", knowing: [])
    }
  }

  @Test func `a start that never reached Apple is resumed with the same identifier and the same bytes`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.subscribe(5)
    rehearsal.inject(Fault(.failure(status: 503, body: .empty), endpoints: Self.massExtend, count: 1))
    let campaign = try rehearsal.draft()
    guard case .unclear = try await rehearsal.start().start(campaign, knowing: []) else {
      Issue.record("a 503 leaves the result unknown")
      return
    }
    rehearsal.time.advance(by: .seconds(60))
    let (_, result) = try await rehearsal.start().resume(campaign.id, by: "bob", knowing: [])
    #expect(result == .accepted && Self.calls(rehearsal) == 2)
    #expect(rehearsal.services.report.broken.isEmpty)
    let resumed = try #require(try await rehearsal.campaigns.table()[campaign.id])
    #expect(resumed.requestedAt == campaign.requestedAt && resumed.resumedAt == rehearsal.now)
    // Apple did not have it before, so earlier failures belong to another extension.
    #expect(resumed.isOpen(at: rehearsal.now) && resumed.windowStart == rehearsal.now)
  }

  @Test func `a repetition that Apple refuses leaves the campaign unclear`() async throws {
    let rehearsal = try Rehearsal()
    var campaign = try rehearsal.draft()
    campaign.productId = "unknown"
    for state in [Campaign.State.unclear, .requested] {
      campaign.state = state
      try await rehearsal.campaigns.append([.campaign(campaign)])
      guard case .unclear = try await rehearsal.start().resume(campaign.id, by: "bob", knowing: []).1 else {
        Issue.record("\(state): a refused repetition does not determine the first attempt")
        continue
      }
      #expect(try await rehearsal.campaigns.table()[campaign.id]?.state == .unclear)
    }
    #expect(Self.calls(rehearsal) == 2)
  }

  @Test func `a campaign is resumed with its own app's key only`() async throws {
    let rehearsal = try Rehearsal()
    var campaign = try rehearsal.draft()
    campaign.bundleId = "com.example.other"
    campaign.state = .unclear
    try await rehearsal.campaigns.append([.campaign(campaign)])
    let error = await #expect(throws: OperationError.self) {
      try await rehearsal.start().resume(campaign.id, by: "bob", knowing: [])
    }
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

  @Test func `a campaign is resumed by its full id, and not after a cancellation`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.subscribe(5)
    let campaign = Campaign.sample(at: rehearsal.now, state: .unclear)
    try await rehearsal.campaigns.append([.campaign(campaign)])
    for id in ["", "1f0c", String(campaign.id.dropLast())] {
      let error = await #expect(throws: OperationError.self) {
        try await rehearsal.start().resume(id, by: "bob", knowing: [])
      }
      #expect(error?.kind == .usage, "\(id)")
    }
    #expect(try await CampaignStart.resumable(campaign.id.uppercased(), in: rehearsal.campaigns) == campaign)
    let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
    _ = try await decisions.cancel(campaign.id, why: "ninety days by mistake")
    let error = await #expect(throws: OperationError.self) {
      try await rehearsal.start().resume(campaign.id, by: "bob", knowing: [])
    }
    #expect(error?.kind == .usage && error?.what.contains("ninety days by mistake") == true)
    #expect(Self.calls(rehearsal) == 0)
  }

  @Test func `a later extension of the same subscribers is found before a lost start is sent again`()
    async throws
  {
    let rehearsal = try Rehearsal()
    let ids = try rehearsal.subscribe(5)
    let lost = Campaign.sample(at: rehearsal.now, state: .unclear)
    try await rehearsal.campaigns.append([.campaign(lost)])
    rehearsal.time.advance(by: .seconds(3_600))
    // An operator who knows of the first campaign starts another one.
    let second = try rehearsal.draft()
    #expect(try await rehearsal.start().start(second, knowing: [lost]) == .accepted)
    try rehearsal.pass(.seconds(5 * 3_600))
    _ = try await rehearsal.start().refresh(second)
    rehearsal.time.advance(by: .seconds(5 * 3_600))

    #expect(try await rehearsal.start().find(lost, by: "bob") == nil)
    let overlapping = try await rehearsal.start().overlapping(lost)
    #expect(overlapping.map(\.id) == [second.id], "it is complete, and the same subscribers got their days")
    let plan = CampaignPlan(lost, overlapping, isResumed: true)
    let error = #expect(throws: OperationError.self) { try plan.check(isAgreed: false) }
    #expect(error?.place == "--overlap" && error?.what.contains(second.id) == true)
    #expect(throws: Never.self) { try plan.check(isAgreed: true) }
    let shown = plan.lines.joined(separator: "\n")
    for part in ["7 days", second.id, "completed", "first requested", "cannot be undone"] {
      #expect(shown.contains(part), "\(part)")
    }
    // A campaign that the operator does not know of also withdraws the request.
    guard case (_, .withdrawn(let other)) = try await rehearsal.start().resume(lost.id, by: "bob", knowing: []) else {
      Issue.record("sent although the operator does not know of \(second.id)")
      return
    }
    #expect(other.id == second.id && Self.calls(rehearsal) == 1)
    #expect(ids.allSatisfy { rehearsal.extensions(of: $0) <= 1 })
  }

  @Test func `starts, resumptions, decisions and cancellations are audited before the call to Apple`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.subscribe(5)
    rehearsal.inject(Fault(.failure(status: 503, body: .empty), endpoints: Self.massExtend, count: 1))
    let campaign = try rehearsal.draft()
    _ = try await rehearsal.start().start(campaign, knowing: [])
    rehearsal.time.advance(by: .seconds(60))
    _ = try await rehearsal.start().resume(campaign.id, by: "bob", knowing: [])
    let decisions = try CampaignDecisions(rehearsal.campaigns, author: "cid", clock: rehearsal.clock)
    _ = try await decisions.cancel(campaign.id, why: "the wrong product")
    let entries = try await AuditLog(on: rehearsal.log, prefix: "").trail().entries
    #expect(entries.map(\.action) == [.campaignStart, .campaignResume, .campaignCancel])
    #expect(entries.map(\.by) == ["ann", "bob", "cid"] && entries.allSatisfy { $0.target == campaign.id })
    #expect(entries.map(\.result?.rawValue) == ["unclear", "done", "done"])
    #expect(entries.last?.why == "the wrong product")
    #expect(entries[1].selection?["extendByDays"] == 7 && entries[1].selection?["productId"] != nil)
    for record in rehearsal.log.records(in: AuditRecord.topic) {
      let json = try JSON(parsing: record.value ?? [])
      #expect(try SchemaCheck("millrace.audit").problems(json).isEmpty)
    }
    // Without an audit entry nothing starts.
    let mute = try Rehearsal(without: AuditRecord.topic)
    await #expect(throws: OperationError.self) { try await mute.start().start(try mute.draft(), knowing: []) }
    #expect(Self.calls(mute) == 0 && mute.log.records(in: CampaignRecord.topic).isEmpty)
  }

  @Test func `a request that Apple refuses is not a campaign`() async throws {
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

  @Test func `ambiguous campaigns are found, after Apple was asked whether they are complete`()
    async throws
  {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.subscribe(5)
    let first = try await rehearsal.startCampaign()
    rehearsal.time.advance(by: .seconds(10))
    #expect(try await rehearsal.start().overlapping(try rehearsal.draft()).map(\.id) == [first.id])
    // No notification reported the completion, but Apple's status does.
    try rehearsal.pass(.seconds(5 * 3_600))
    #expect(try await rehearsal.start().overlapping(try rehearsal.draft()).isEmpty)
  }

  @Test func `if two operators start at the same moment, neither request is sent`() async throws {
    let rehearsal = try Rehearsal()
    let (ann, bob) = (try rehearsal.draft(), try rehearsal.draft())
    try await rehearsal.campaigns.append([.campaign(bob)])
    #expect(try await rehearsal.start().start(ann, knowing: []) == .withdrawn(because: bob))
    #expect(Self.calls(rehearsal) == 0)
    #expect(try await rehearsal.campaigns.table()[ann.id]?.state == .refused)
    // An operator who knows of it can start another one.
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
  func `the error for a draft that Apple would refuse names its flag`(draft: CampaignDraft, flag: String) {
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

  @Test func `a campaign is found by a unique prefix of its id`() async throws {
    let rehearsal = try Rehearsal()
    try await rehearsal.campaigns.append([
      .campaign(.sample("aa0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11")),
      .campaign(.sample("ab0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11")),
    ])
    let survey = CampaignSurvey(rehearsal.campaigns, rehearsal.configuration)
    #expect(try await survey.campaign("AA").id.hasPrefix("aa0c"))
    for id in ["a", "c", ""] { await #expect(throws: OperationError.self, "\(id)") { try await survey.campaign(id) } }
  }

  @Test func `a cancellation is stored next to the campaign, once`() async throws {
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
