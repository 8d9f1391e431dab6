// A stored campaign matches failures only after Apple is known to have it, and only for a limited time.

import AppStore
import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Operations
@testable import RenewalExtensions

@Suite(.timeLimit(.minutes(15))) struct CampaignConfirmationTests {
  private static let status: Set<SimulatedEndpoint> = [.getMassExtendStatus]

  /// Writes a failure for each of these subscriptions, signed now and without a campaign.
  private static func fail(_ ids: some Sequence<Int64>, _ rehearsal: Rehearsal) throws {
    let now = rehearsal.now
    for id in ids {
      try rehearsal.world.withState { state throws(WorldError) in try state.failExtension(id, at: now) }
    }
    try rehearsal.deliver()
  }

  @Test(arguments: [(Campaign.State.requested, 0), (.unclear, 0), (.requested, 86_400), (.accepted, 2 * 3_600)])
  func `a campaign that Apple does not have matches no failure of another extension`(
    state: Campaign.State, age: Int
  ) async throws {
    let rehearsal = try Rehearsal()
    let ids = try rehearsal.subscribe(9)
    let campaign = Campaign.sample(at: rehearsal.now, state: state)
    try await rehearsal.campaigns.append([.campaign(campaign)])
    rehearsal.time.advance(by: .seconds(age))
    try await rehearsal.running(["a"]) {
      try Self.fail(ids, rehearsal)
      try await rehearsal.settle()
    }
    #expect(rehearsal.extensionCalls == 0 && ids.allSatisfy { rehearsal.extensions(of: $0) == 0 })
    #expect(rehearsal.deadLetters().map(\.reason) == Array(repeating: "campaign-not-found", count: ids.count))
    #expect(rehearsal.statusCalls == 1, "one call for all of them: \(rehearsal.statusCalls)")
    let letter = rehearsal.log.records(in: rehearsal.topics.deadLetters).first
    let detail = letter.flatMap { DeadLetter($0.headers)?.detail }
    #expect(detail?.contains(campaign.id) == true, "\(detail ?? "")")
    // The dead letters name the campaign but do not belong to it, so an operator has to select them.
    let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
    #expect(try await decisions.candidates(for: campaign.id, among: []).letters.isEmpty)
  }

  @Test func `a campaign with a lost response matches if Apple has it, with one call per hour`()
    async throws
  {
    let rehearsal = try Rehearsal { $0.massExtension = MassExtensionSettings(startDelay: .seconds(86_400)) }
    let ids = try rehearsal.subscribe(6)
    rehearsal.inject(Fault(.answerLost, endpoints: [.massExtendRenewalDate], count: 1))
    let campaign = try rehearsal.draft()
    _ = try await rehearsal.start().start(campaign, knowing: [])
    rehearsal.time.advance(by: .seconds(3 * 3_600))
    try await rehearsal.running(["a"]) {
      try Self.fail(ids[0..<3], rehearsal)
      try await rehearsal.settle()
      rehearsal.time.advance(by: .seconds(3_500))
      try Self.fail(ids[3..<4], rehearsal)
      try await rehearsal.settle()
    }
    #expect(rehearsal.statusCalls == 1 && rehearsal.deadLetters().isEmpty)
    #expect(try await rehearsal.campaigns.table()[campaign.id]?.seenAt != nil, "the answer is stored")
    // Another process reads the stored answer.
    try await rehearsal.running(["b"]) {
      try Self.fail(ids[4..<5], rehearsal)
      try await rehearsal.settle()
      #expect(rehearsal.statusCalls == 1)
      rehearsal.time.advance(by: .seconds(3_600))
      try Self.fail(ids[5..<6], rehearsal)
      try await rehearsal.settle()
      #expect(rehearsal.statusCalls == 2)
    }
    #expect(ids.allSatisfy { rehearsal.extensions(of: $0) == 1 })
    #expect(rehearsal.services.report.broken.isEmpty)
  }

  @Test func `a campaign without a summary is completed by Apple's status, and then matches nothing`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(startDelay: .seconds(60), duration: .seconds(60), failureShare: 0)
    }
    let ids = try rehearsal.subscribe(4)
    let campaign = try await rehearsal.startCampaign()
    // The extension runs, and no notification of it reaches the ingress.
    rehearsal.time.advance(by: .seconds(600))
    try rehearsal.world.run(until: rehearsal.now)
    _ = rehearsal.takePending()
    rehearsal.time.advance(by: .seconds(3 * 3_600))
    try await rehearsal.running(["a"]) {
      try Self.fail(ids, rehearsal)
      try await rehearsal.settle()
    }
    #expect(rehearsal.deadLetters().map(\.reason) == Array(repeating: "campaign-not-found", count: ids.count))
    #expect(rehearsal.extensionCalls == 0 && rehearsal.statusCalls == 1)
    let completion = try #require(try await rehearsal.campaigns.table()[campaign.id]?.completion)
    #expect(completion.succeeded == 4 && completion.failed == 0)
  }

  @Test func `a failure within the window of a completed campaign belongs to it`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(
        startDelay: .seconds(7_200), duration: .seconds(60), failureShare: 0)
    }
    let ids = try rehearsal.subscribe(2)
    let campaign = try await rehearsal.startCampaign()
    rehearsal.time.advance(by: .seconds(7_260))
    try rehearsal.world.run(until: rehearsal.now)
    _ = rehearsal.takePending()
    try await rehearsal.running(["a"]) {
      try Self.fail(ids[0..<1], rehearsal)
      try await rehearsal.settle()
    }
    #expect(rehearsal.extensionCalls == 1 && rehearsal.deadLetters().isEmpty)
    #expect(try await rehearsal.campaigns.table()[campaign.id]?.completion != nil)
  }

  @Test func `failures wait while Apple is unavailable, and an unusable status is a dead letter`()
    async throws
  {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let campaign = Campaign.sample(at: rehearsal.now, state: .unclear)
    try await rehearsal.campaigns.append([.campaign(campaign)])
    rehearsal.inject(Fault(.failure(status: 503, body: .empty), endpoints: Self.status, count: 1))
    rehearsal.inject(
      Fault(.failure(status: 400, body: .json(code: 4_000_022, message: "Invalid.")), endpoints: Self.status, count: 1))
    try await rehearsal.running(["a"]) {
      try Self.fail([id], rehearsal)
      try await rehearsal.settle()
      #expect(rehearsal.deadLetters().isEmpty && rehearsal.extensionCalls == 0)
      try rehearsal.pass(.seconds(11))
      try await rehearsal.settle()
      #expect(rehearsal.deadLetters().map(\.reason) == ["campaign-status-unknown"] && rehearsal.extensionCalls == 0)
      rehearsal.time.advance(by: .seconds(61))
      let operations = try WorkerOperations(
        worker: RenewalExtensionsWorker.name, prefix: "", on: rehearsal.log, author: "ann", clock: rehearsal.clock)
      let letters = try await operations.deadLetters(isOpenOnly: true)
      let why = "Apple answers again"
      let summary = try await operations.requeue(letters.map(\.id), why: why, patience: .seconds(30)) { _ in }
      #expect(summary.done == 1)
      try await rehearsal.settle()
    }
    #expect(rehearsal.deadLetters().map(\.reason) == ["campaign-status-unknown", "campaign-not-found"])
    #expect(rehearsal.statusCalls == 3 && rehearsal.extensionCalls == 0)
  }

  @Test func `an operator's decision does not depend on Apple's status`() async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let campaign = Campaign.sample(at: rehearsal.now, state: .unclear)
    try await rehearsal.campaigns.append([.campaign(campaign)])
    try await rehearsal.running(["a"]) {
      try Self.fail([id], rehearsal)
      try await rehearsal.settle()
      let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
      let letters = try await decisions.operations.deadLetters(isOpenOnly: true)
      let why = "they get a week all the same"
      _ = try await decisions.resolve(letters, to: campaign, why: why, patience: .seconds(30)) { _ in }
      try await rehearsal.settle()
    }
    #expect(rehearsal.extensions(of: id) == 1 && rehearsal.statusCalls == 1)
    let entries = try await AuditLog(on: rehearsal.log, prefix: "").trail().entries
    #expect(entries.contains { $0.action == .campaignResolve && $0.by == "ann" && $0.target == campaign.id })
  }

  @Test func `a status settles failures of its time, unless the request was sent again later`() {
    var campaign = Campaign.sample(state: .unclear)
    let asked = Campaign.origin + .seconds(3_600)
    func settles(_ status: CampaignStatus, signed: Duration, after: Duration = .zero) -> Bool {
      CampaignAnswer(status: status, at: asked).settles(campaign, signedAt: asked + signed, now: asked + after)
    }
    let done = CampaignStatus.complete(.init(at: asked, succeeded: 1, failed: 1))
    #expect(settles(done, signed: .seconds(90_000), after: .seconds(90_000)))
    #expect(settles(.inProgress, signed: .seconds(3_600), after: .seconds(90_000)))
    #expect(!settles(.inProgress, signed: .seconds(3_601)))
    #expect(settles(.notFound, signed: .seconds(-600)) && settles(.notFound, signed: .seconds(60)))
    #expect(!settles(.notFound, signed: .seconds(61)))
    #expect(!settles(.notFound, signed: .seconds(-600), after: .seconds(601)), "a requeue asks again")
    #expect(!settles(.undetermined(""), signed: .zero, after: .seconds(61)))
    campaign.resumedAt = asked + .seconds(1)
    for status in [done, .inProgress, .notFound] { #expect(!settles(status, signed: .zero)) }
  }

  @Test func `proof that Apple has a campaign is valid for an hour, and a completion for ever`() {
    var campaign = Campaign.sample(state: .requested)
    let start = Campaign.origin
    #expect(!campaign.isProven(at: start))
    campaign.state = .accepted
    #expect(campaign.isProven(at: start + .seconds(3_600)) && !campaign.isProven(at: start + .seconds(3_601)))
    campaign.state = .unclear
    campaign.seenAt = start + .seconds(7_200)
    #expect(campaign.isProven(at: start + .seconds(10_800)) && !campaign.isProven(at: start + .seconds(10_801)))
    campaign.completion = .init(at: start + .seconds(7_300), succeeded: 1, failed: 1)
    #expect(campaign.isProven(at: start + .seconds(90_000)) && !campaign.isOpen(at: start + .seconds(90_000)))
  }
}
