// Tests the adoption of mass extensions that another tool has started.

import AppStore
import AppStoreServerAPI
import KafkaClient
import MillraceRecords
import MillraceTesting
import MillraceTime
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Operations
@testable import RenewalExtensions

@Suite(.timeLimit(.minutes(15))) struct CampaignAdoptionTests {
  /// Starts a mass extension that Millrace does not know.
  private func foreign(_ rehearsal: Rehearsal) async throws -> Campaign {
    let campaign = try rehearsal.draft()
    _ = try await rehearsal.client().extendRenewalDateForAllActiveSubscribers(campaign.request, in: .production)
    return campaign
  }

  private func fail(_ id: Int64, _ rehearsal: Rehearsal) throws {
    let now = rehearsal.now
    try rehearsal.world.withState { state throws(WorldError) in try state.failExtension(id, at: now) }
    try rehearsal.deliver()
  }

  @Test func `the failures of an adopted extension run, those that waited and later ones, each once`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(
        startDelay: .seconds(60), duration: .seconds(60), failureShare: 0.3)
    }
    let ids = try rehearsal.subscribe(20)
    try await rehearsal.running(["a"]) {
      let started = try await foreign(rehearsal)
      for _ in 0..<13 {
        try rehearsal.pass(.seconds(10))
        try await rehearsal.settle()
      }
      let dead = rehearsal.deadLetters()
      #expect(!dead.isEmpty && dead.allSatisfy { $0.reason == "campaign-not-found" } && rehearsal.extensionCalls == 0)
      let start = try rehearsal.start()
      let campaign = try await start.adoptable(started)
      #expect(campaign.completion?.failed == Int64(dead.count) && campaign.state == .accepted)
      let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
      let letters = try await decisions.unmatched(by: campaign)
      #expect(letters.count == dead.count)
      #expect(try await start.adopt(campaign, knowing: [], why: "our script") == .adopted)
      let summary = try await decisions.requeue(letters, why: "adopted", patience: .seconds(30)) { _ in }
      #expect(summary.done == letters.count)
      try await rehearsal.settle()
      #expect(try await decisions.unmatched(by: campaign).isEmpty)
      #expect(rehearsal.extensionCalls == dead.count)
      #expect(ids.allSatisfy { rehearsal.extensions(of: $0) == 1 })
      #expect(try await rehearsal.progress(of: campaign).applied == Int64(dead.count))
      // A failure that Apple delivers late.
      let late = try rehearsal.subscribe(1)[0]
      try fail(late, rehearsal)
      try await rehearsal.settle()
      #expect(rehearsal.extensions(of: late) == 1)
    }
    let entries = try await AuditLog(on: rehearsal.log, prefix: "").trail().entries
    let entry = try #require(entries.first { $0.action == .campaignAdopt })
    #expect(entry.by == "ann" && entry.why == "our script" && entry.result?.rawValue == "done")
    #expect(entry.selection?["extendByDays"] == 7 && entry.selection?["requestedAt"] != nil)
    for record in rehearsal.log.records(in: AuditRecord.topic) {
      #expect(try SchemaCheck("millrace.audit").problems(try JSON(parsing: record.value ?? [])).isEmpty)
    }
  }

  @Test func `an extension that Apple does not have is not adopted`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.subscribe(3)
    var started = try await foreign(rehearsal)
    started.productId = "com.example.app.yearly"
    for campaign in [try rehearsal.draft(), started] {
      await #expect(throws: OperationError.self) { try await rehearsal.start().adoptable(campaign) }
    }
    #expect(rehearsal.log.records(in: CampaignRecord.topic).isEmpty)
  }

  @Test func `a campaign is adopted once`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(startDelay: .seconds(60), duration: .seconds(60), failureShare: 0)
    }
    _ = try rehearsal.subscribe(3)
    let campaign = try await foreign(rehearsal)
    let start = try rehearsal.start()
    let running = try await start.adoptable(campaign)
    #expect(running.completion == nil && running.seenAt == rehearsal.now)
    #expect(try await start.adopt(running, knowing: [], why: "w") == .adopted)
    #expect(try await rehearsal.campaigns.table()[campaign.id] == running)
    let known = await #expect(throws: OperationError.self) { try await start.adoptable(campaign) }
    #expect(known?.description.contains("known") == true)
  }

  @Test func `an extension that was over before the named time is not adopted`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(startDelay: .seconds(60), duration: .seconds(60), failureShare: 0)
    }
    _ = try rehearsal.subscribe(3)
    var campaign = try await foreign(rehearsal)
    try rehearsal.pass(.seconds(3_600))
    campaign.requestedAt = rehearsal.now
    let described = campaign
    let late = await #expect(throws: OperationError.self) { try await rehearsal.start().adoptable(described) }
    #expect(late?.place == "--since")
  }

  @Test func `a window of time needs no status, and ends`() async throws {
    let rehearsal = try Rehearsal()
    let ids = try rehearsal.subscribe(2)
    try await rehearsal.running(["a"]) {
      var campaign = try rehearsal.draft()
      campaign.until = rehearsal.now + .seconds(7_200)
      let start = try rehearsal.start()
      campaign = try await start.adoptable(campaign)
      #expect(try await start.adopt(campaign, knowing: [], why: "its identifier is lost") == .adopted)
      try rehearsal.pass(.seconds(7_000))
      try fail(ids[0], rehearsal)
      try await rehearsal.settle()
      try rehearsal.pass(.seconds(600))
      try fail(ids[1], rehearsal)
      try await rehearsal.settle()
    }
    #expect(ids.map { rehearsal.extensions(of: $0) } == [1, 0])
    #expect(rehearsal.deadLetters().map(\.reason) == ["campaign-not-found"])
    #expect(rehearsal.statusCalls == 0)
  }

  @Test func `an adoption that overlaps a campaign needs consent, and does nothing beside a new one`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.subscribe(3)
    let own = try await rehearsal.startCampaign()
    let start = try rehearsal.start()
    var campaign = try rehearsal.draft()
    campaign.until = rehearsal.now + .seconds(3_600)
    campaign = try await start.adoptable(campaign)
    let overlapping = try await start.overlapping(campaign)
    #expect(overlapping.map(\.id) == [own.id])
    let plan = CampaignAdoptionPlan(campaign, overlapping: overlapping, waiting: 2)
    #expect(throws: OperationError.self) { try plan.check(isAgreed: false) }
    #expect(throws: Never.self) { try plan.check(isAgreed: true) }
    #expect(
      plan.lines.contains { $0.contains("Apple was not asked") } && plan.lines.contains { $0.contains("2 failures") })
    guard case .withdrawn(let other) = try await start.adopt(campaign, knowing: [], why: "w") else {
      throw NotAccepted()
    }
    #expect(other.id == own.id)
    #expect(try await rehearsal.campaigns.table()[campaign.id]?.state == .refused)
  }
}
