// Tests the worker on an in-memory log with the simulated App Store, one failure at a time.

import AppStore
import AppStoreSigning
import MillraceTesting
import KafkaClient
import MillraceTime
import MillraceWorker
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Operations
@testable import RenewalExtensions

@Suite(.timeLimit(.minutes(15))) struct RenewalExtensionsWorkerTests {
  private static let extend: Set<SimulatedEndpoint> = [.extendSubscriptionRenewalDate]

  /// Writes a failure of the subscription, signed now.
  private static func fail(_ id: Int64, _ rehearsal: Rehearsal) throws {
    let now = rehearsal.now
    try rehearsal.world.withState { state throws(WorldError) in try state.failExtension(id, at: now) }
    try rehearsal.deliver()
  }

  private static func calls(_ rehearsal: Rehearsal) -> Int { rehearsal.extensionCalls }

  @Test func `a failure is retried once with the campaign's days, despite duplicates`() async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let campaign = Campaign.sample(at: rehearsal.now)
    try await rehearsal.campaigns.append([.campaign(campaign)])
    try await rehearsal.running(["a"]) {
      try Self.fail(id, rehearsal)
      try await rehearsal.settle()
      // A duplicate with another identifier: Apple sent two notifications.
      try Self.fail(id, rehearsal)
      try await rehearsal.settle()
    }
    #expect(rehearsal.extensions(of: id) == 1 && Self.calls(rehearsal) == 1)
    let events = try rehearsal.events()
    #expect(events.map(\.name) == ["extension.applied", "extension.applied"])
    #expect(events[0].data == events[1].data)
    let expires = rehearsal.world.withState { $0.subscriptions[id]?.expires }
    #expect(events[0].data["effectiveDate"] == expires.map { .string($0.rfc3339) })
    #expect(events[0].data["extendByDays"] == 7 && events[0].data["campaign"] == .string(campaign.id))
    let progress = try await rehearsal.progress(of: campaign)
    #expect(progress.applied == 1 && progress.failures == 1)
    // The worker's own call caused RENEWAL_EXTENDED.
    #expect(progress.extended == 0 && rehearsal.log.records(in: rehearsal.topics.inputs[0]).count == 3)
  }

  @Test func `replaying everything, plainly or reapplied, makes no call and publishes no event`() async throws {
    let rehearsal = try Rehearsal(lanes: 3)
    let ids = try rehearsal.subscribe(9)
    let campaign = Campaign.sample(at: rehearsal.now)
    try await rehearsal.campaigns.append([.campaign(campaign)])
    try await rehearsal.running(["a"]) {
      rehearsal.inject(Fault(.answerLost, endpoints: Self.extend, count: 2))
      rehearsal.world.withState { state in
        state.lapse(ids[0], to: .expired)
        state.useUpExtensions(ids[1], at: rehearsal.now)
      }
      for id in ids { try Self.fail(id, rehearsal) }
      // Apple reports an extension of another campaign.
      let now = rehearsal.now
      try rehearsal.world.withState { state in _ = try state.extendRenewal(ids[8], byDays: 7, at: now) }
      try rehearsal.deliver()
      try await rehearsal.passUntil(step: .seconds(1)) {
        var isResting = true
        for worker in rehearsal.living where await !worker.isAtRest { isResting = false }
        return isResting && rehearsal.log.records(in: rehearsal.topics.events).count == ids.count
      }
      let (events, calls) = (try rehearsal.events(), rehearsal.services.report.asked)
      let progress = try await rehearsal.progress(of: campaign)
      #expect(progress.applied == 7 && progress.refused.values.reduce(0, +) == 2)
      for reapply in [false, true] {
        #expect(try rehearsal.log.replay(to: rehearsal.topics, reapply: reapply) > 2 * ids.count - 2)
        try await rehearsal.settle()
        #expect(try rehearsal.events().map(\.id) == events.map(\.id), "reapply: \(reapply)")
        #expect(rehearsal.services.report.asked == calls, "reapply: \(reapply)")
        #expect(try await rehearsal.progress(of: campaign) == progress, "reapply: \(reapply)")
      }
    }
  }

  @Test func `with no campaign or two, nothing is sent until an operator decides`() async throws {
    let rehearsal = try Rehearsal()
    let ids = try rehearsal.subscribe(2)
    try await rehearsal.running(["a"]) {
      try Self.fail(ids[0], rehearsal)
      try await rehearsal.settle()
      #expect(rehearsal.deadLetters().map(\.reason) == ["campaign-not-found"])
      let first = Campaign.sample(at: rehearsal.now)
      let second = Campaign.sample("2f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11", at: rehearsal.now)
      try await rehearsal.campaigns.append([.campaign(first), .campaign(second)])
      try Self.fail(ids[1], rehearsal)
      try await rehearsal.settle()
      #expect(Set(rehearsal.deadLetters().map(\.reason)) == ["campaign-not-found", "campaign-ambiguous"])
      #expect(Self.calls(rehearsal) == 0)

      let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
      let (campaign, letters) = try await decisions.candidates(for: second.id, among: [])
      #expect(letters.map(\.reason) == ["campaign-ambiguous"] && campaign == second)
      let all = try await decisions.operations.deadLetters()
      let chosen = try await decisions.candidates(for: second.id, among: all.map(\.id)).letters
      let summary = try await decisions.resolve(
        chosen, to: second, why: "the first was for another team", patience: .seconds(30)
      ) { _ in }
      #expect(summary.done == 2)
      try await rehearsal.settle()
      #expect(try await decisions.candidates(for: second.id, among: []).letters.isEmpty)
    }
    #expect(ids.map { rehearsal.extensions(of: $0) } == [1, 1])
    let events = try rehearsal.events()
    #expect(events.count == 2)
    #expect(events.allSatisfy { $0.data["campaign"] == "2f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11" })
    #expect(rehearsal.services.report.broken.isEmpty)
  }

  @Test func `an operator cannot assign a failure to another product's campaign`() async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let other = Campaign.sample(product: "com.example.app.yearly", at: rehearsal.now)
    try await rehearsal.campaigns.append([.campaign(other)])
    try await rehearsal.running(["a"]) {
      try Self.fail(id, rehearsal)
      try await rehearsal.settle()
      let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
      let letters = try await decisions.operations.deadLetters()
      _ = try await decisions.resolve(letters, to: other, why: "a slip", patience: .seconds(30)) { _ in }
      try await rehearsal.settle()
    }
    #expect(rehearsal.deadLetters().map(\.reason).sorted() == ["campaign-mismatch", "campaign-not-found"])
    #expect(Self.calls(rehearsal) == 0)
  }

  @Test func `after a cancellation nothing is sent, and the event has its author and reason`() async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let campaign = Campaign.sample(at: rehearsal.now)
    try await rehearsal.campaigns.append([.campaign(campaign)])
    try await rehearsal.running(["a"]) {
      let decisions = try CampaignDecisions(rehearsal.campaigns, author: "bob", clock: rehearsal.clock)
      _ = try await decisions.cancel(campaign.id, why: "the wrong product")
      try Self.fail(id, rehearsal)
      try await rehearsal.settle()
    }
    let events = try rehearsal.events()
    #expect(events.map(\.name) == ["extension.withheld"] && events.first?.data["by"] == "bob")
    #expect(try SchemaCheck("renewal-extensions.extension.withheld").problems(.object(events[0].data)).isEmpty)
    #expect(Self.calls(rehearsal) == 0)
    #expect(try await rehearsal.progress(of: campaign).withheld == 1)
  }

  @Test func `a cancellation withholds an extension that waits for a slot`() async throws {
    let rehearsal = try Rehearsal()
    let ids = try rehearsal.subscribe(4)
    let campaign = Campaign.sample(at: rehearsal.now)
    try await rehearsal.campaigns.append([.campaign(campaign)])
    try await rehearsal.running(["a"]) {
      // The first call gets no response and the second a 429, so there are no slots for an hour.
      rehearsal.inject(Fault(.answerLost, endpoints: Self.extend, count: 1))
      try Self.fail(ids[0], rehearsal)
      try await rehearsal.settle()
      rehearsal.inject(Fault(.tooManyRequests(.milliseconds(from: .seconds(3_600))), endpoints: Self.extend, count: 1))
      for id in ids.dropFirst() {
        try Self.fail(id, rehearsal)
        try await rehearsal.settle()
      }
      #expect(try await rehearsal.progress(of: campaign).waiting <= 2, "the other calls were not made")
      let decisions = try CampaignDecisions(rehearsal.campaigns, author: "bob", clock: rehearsal.clock)
      _ = try await decisions.cancel(campaign.id, why: "the wrong product")
      for _ in 0..<8 {
        try rehearsal.pass(.seconds(600))
        try await rehearsal.settle()
      }
    }
    var told: [JSON: String] = [:]
    for event in try rehearsal.events() { told[event.data["originalTransactionId"] ?? .null] = event.name }
    #expect(told.count == 4 && told[.string("\(ids[0])")] == "extension.unclear")
    for id in ids.dropFirst(2) { #expect(told[.string("\(id)")] == "extension.withheld") }
    let progress = try await rehearsal.progress(of: campaign)
    #expect(progress.withheld + progress.unclear == 4 && progress.waiting == 0, "\(progress)")
    #expect(Self.calls(rehearsal) == 2)
  }

  @Test func `hours without a slot leave nothing unclear and cause no call`() async throws {
    let rehearsal = try Rehearsal { $0.requestMemory = .nothing }
    let ids = try rehearsal.subscribe(2)
    try await rehearsal.campaigns.append([.campaign(.sample(at: rehearsal.now))])
    try await rehearsal.running(["a"]) {
      rehearsal.inject(
        Fault(.tooManyRequests(.milliseconds(from: .seconds(3 * 3_600))), endpoints: Self.extend, count: 1))
      for id in ids {
        try Self.fail(id, rehearsal)
        try await rehearsal.settle()
      }
      let now = rehearsal.now
      // Support gives the second customer three days, so the dates are inconclusive.
      _ = try rehearsal.world.withState { state throws(WorldError) in
        try state.extendRenewal(ids[1], byDays: 3, at: now)
      }
      for _ in 0..<30 {
        try rehearsal.pass(.seconds(600))
        try await rehearsal.settle()
      }
    }
    #expect(try rehearsal.events().map(\.name) == ["extension.applied", "extension.applied"])
    #expect(ids.map { rehearsal.extensions(of: $0) } == [1, 2])
    // The worker may check the one that got the 429 only when it can send it.
    let looks = rehearsal.services.report.asked.first { $0.endpoint == .getAllSubscriptionStatuses }?.count ?? 0
    #expect(looks <= 1 && Self.calls(rehearsal) == 3, "\(looks) \(Self.calls(rehearsal))")
  }

  @Test func `an effect with a lost response is checked after an hour, not sent again`() async throws {
    // An Apple without memory would extend twice.
    let rehearsal = try Rehearsal { $0.requestMemory = .nothing }
    let ids = try rehearsal.subscribe(2)
    let campaign = Campaign.sample(at: rehearsal.now)
    try await rehearsal.campaigns.append([.campaign(campaign)])
    try await rehearsal.running(["a"]) {
      // The first call takes effect but its response is lost. Then the API is unavailable for two hours.
      rehearsal.inject(Fault(.answerLost, endpoints: Self.extend, count: 1))
      let now = rehearsal.now
      rehearsal.inject(
        Fault(
          .failure(status: 503, body: .empty), endpoints: Self.extend, from: now, until: now + .seconds(7_200)))
      try Self.fail(ids[0], rehearsal)
      try await rehearsal.settle()
      #expect(rehearsal.extensions(of: ids[0]) == 1)
      try Self.fail(ids[1], rehearsal)
      try await rehearsal.settle()
      for _ in 0..<24 {
        try rehearsal.pass(.seconds(1_800))
        try await rehearsal.settle()
      }
    }
    // One was found extended without another call. The other was not extended, so it was sent again.
    #expect(ids.map { rehearsal.extensions(of: $0) } == [1, 1])
    #expect(Set(try rehearsal.events().map(\.name)) == ["extension.applied"])
    #expect(try rehearsal.events().count == 2 && rehearsal.deadLetters().isEmpty)
    #expect(rehearsal.services.report.broken.isEmpty, "\(rehearsal.services.report.broken)")
    let asked = rehearsal.services.report.asked.first { $0.endpoint == .getAllSubscriptionStatuses }
    #expect((asked?.count ?? 0) >= 2)
  }

  @Test func `a refusal with a lost response is sent again and published once`() async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    rehearsal.world.withState { state -> Void in state.subscriptions[id]?.status = .expired }
    try await rehearsal.campaigns.append([.campaign(.sample(at: rehearsal.now))])
    try await rehearsal.running(["a"]) {
      rehearsal.inject(Fault(.answerLost, endpoints: Self.extend, count: 1))
      try Self.fail(id, rehearsal)
      try await rehearsal.settle()
      try rehearsal.pass(.seconds(11))
      try await rehearsal.settle()
      try rehearsal.pass(.seconds(7_200))
      try await rehearsal.settle()
    }
    let events = try rehearsal.events()
    #expect(events.map(\.name) == ["extension.refused"] && events.first?.data["code"] == 4_030_004)
    #expect(Self.calls(rehearsal) == 2 && rehearsal.extensions(of: id) == 0)
    #expect(rehearsal.services.report.broken.isEmpty, "\(rehearsal.services.report.broken)")
  }

  @Test func `an undeterminable result is published as unclear, and nothing is sent`() async throws {
    let rehearsal = try Rehearsal { $0.requestMemory = .nothing }
    let id = try rehearsal.subscribe(1)[0]
    try await rehearsal.campaigns.append([.campaign(.sample(at: rehearsal.now))])
    try await rehearsal.running(["a"]) {
      let now = rehearsal.now
      rehearsal.inject(
        Fault(.failure(status: 503, body: .empty), endpoints: Self.extend, from: now, until: now + .seconds(5_400)))
      try Self.fail(id, rehearsal)
      try await rehearsal.settle()
      // Support gives the customer three days meanwhile.
      _ = try rehearsal.world.withState { state throws(WorldError) in try state.extendRenewal(id, byDays: 3, at: now) }
      for _ in 0..<12 {
        try rehearsal.pass(.seconds(1_800))
        try await rehearsal.settle()
      }
    }
    #expect(rehearsal.extensions(of: id) == 1)
    #expect(try rehearsal.events().map(\.name) == ["extension.unclear"])
  }

  @Test func `an unreadable campaign of a later version makes failures wait`() async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    try await rehearsal.campaigns.append([.campaign(.sample(at: rehearsal.now))])
    try await rehearsal.running(["a"]) {
      var later = CampaignRecord.campaign(.sample("2f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11")).record(prefix: "")
      let readable = later
      later.value = Array(#"{"kind":"campaign","schema":9}"#.utf8)
      try rehearsal.log.append(later)
      try Self.fail(id, rehearsal)
      try await rehearsal.settle()
      #expect(Self.calls(rehearsal) == 0 && rehearsal.deadLetters().isEmpty)
      #expect(rehearsal.topics.retries.contains { !rehearsal.log.records(in: $0).isEmpty })
      // The unreadable campaign was for another product.
      var other = Campaign.sample("2f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11")
      other.productId = "com.example.app.yearly"
      var mended = readable
      mended.value = CampaignRecord.campaign(other).json.serialized()
      try rehearsal.log.append(mended)
      try rehearsal.pass(.seconds(601))
      try await rehearsal.settle()
    }
    #expect(rehearsal.extensions(of: id) == 1)
  }

  @Test func `a retry that succeeds in another campaign's window does not count for that campaign`() async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let first = Campaign.sample(at: rehearsal.now)
    let second = Campaign.sample("2f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11", at: rehearsal.now + .seconds(7_200))
    try await rehearsal.campaigns.append([
      .campaign(first), .completion(campaign: first.id, .init(at: rehearsal.now, succeeded: 0, failed: 1)),
    ])
    try await rehearsal.running(["a"]) {
      let now = rehearsal.now
      rehearsal.inject(
        Fault(.failure(status: 503, body: .empty), endpoints: Self.extend, from: now, until: now + .seconds(7_200)))
      try Self.fail(id, rehearsal)
      try await rehearsal.settle()
      try await rehearsal.campaigns.append([.campaign(second)])
      for _ in 0..<24 {
        try rehearsal.pass(.seconds(1_800))
        try await rehearsal.settle()
      }
    }
    #expect(rehearsal.extensions(of: id) == 1 && rehearsal.log.records(in: rehearsal.topics.inputs[0]).count == 2)
    #expect(try await rehearsal.progress(of: first).applied == 1)
    let progress = try await rehearsal.progress(of: second)
    #expect(progress.extended == 0 && progress.ambiguous == 0)
  }

  @Test func `family members in the retries are no difference from Apple's counts`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(
        startDelay: .seconds(60), duration: .seconds(60), failureShare: 0.3)
    }
    _ = try rehearsal.subscribe(20, sharing: 2)
    try await rehearsal.running(["a"]) {
      let campaign = try await rehearsal.startCampaign()
      for _ in 0..<13 {
        try rehearsal.pass(.seconds(10))
        try await rehearsal.settle()
      }
      let completion = try #require(try await rehearsal.campaigns.table()[campaign.id]?.completion)
      let progress = try await rehearsal.progress(of: campaign)
      #expect(progress.applied > 0 && progress.applied == completion.failed)
      #expect(progress.extended == 20 - progress.applied && progress.shared == 40, "\(progress)")
      #expect(progress.agrees(with: completion), "\(progress) \(completion)")
    }
  }

  @Test func `a difference is published once, even if the summary is handled again`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(startDelay: .seconds(60), duration: .seconds(60), failureShare: 0)
    }
    let ids = try rehearsal.subscribe(5)
    /// The number of times that the timer was set or removed.
    @Sendable func changes() -> Int {
      rehearsal.log.records(in: rehearsal.topics.ledger).count { record in
        String(decoding: record.key ?? [], as: UTF8.self).contains("differs/")
      }
    }
    try await rehearsal.running(["a"]) {
      _ = try await rehearsal.startCampaign()
      // Another client extends a subscription too.
      let now = rehearsal.now
      _ = try rehearsal.world.withState { state throws(WorldError) in
        try state.extendRenewal(ids[0], byDays: 3, at: now)
      }
      for _ in 0..<13 {
        try rehearsal.pass(.seconds(10))
        try await rehearsal.settle()
      }
      #expect(changes() == 1)
      rehearsal.time.advance(by: .seconds(8 * 86_400))
      try await rehearsal.passUntil { changes() == 2 }
      #expect(try rehearsal.events().map(\.name) == ["campaign.completed", "campaign.differs"])
      #expect(try rehearsal.log.replay(to: rehearsal.topics, reapply: true) > 0)
      try await rehearsal.settle()
      #expect(changes() == 2, "it has fired, and the same outcome does not set it again")
    }
    // Another outcome would. The timer is set again and due at once.
    let timer = try #require(
      rehearsal.log.records(in: rehearsal.topics.ledger).last { record in
        String(decoding: record.key ?? [], as: UTF8.self).contains("differs/") && record.value != nil
      })
    try rehearsal.log.append(
      ProducerRecord(
        topic: rehearsal.topics.ledger, partition: timer.partition, key: timer.key, value: timer.value))
    try await rehearsal.running(["b"]) {
      try await rehearsal.passUntil { changes() == 4 }
      try await rehearsal.settle()
    }
    #expect(try rehearsal.events().map(\.name) == ["campaign.completed", "campaign.differs"])
  }

  @Test func `a completion with the subtype SUCCESS, which one page of Apple's names, counts`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(startDelay: .seconds(60), duration: .seconds(60), failureShare: 0)
    }
    _ = try rehearsal.subscribe(3)
    try await rehearsal.running(["a"]) {
      let campaign = try await rehearsal.startCampaign()
      for _ in 0..<13 {
        try rehearsal.passTime(.seconds(10))
        for entry in rehearsal.takePending() where entry.facts.kind.type == .renewalExtension {
          try rehearsal.log.append(rehearsal.v2(entry) { $0.payload.subtype = Subtype(rawValue: "SUCCESS") })
        }
        try await rehearsal.settle()
      }
      #expect(try await rehearsal.campaigns.table()[campaign.id]?.completion?.succeeded == 3)
    }
    #expect(try rehearsal.events().map(\.name) == ["campaign.completed"])
  }

  @Test func `a campaign that agrees with Apple's counts is completed once, without further events`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(
        startDelay: .seconds(60), duration: .seconds(60), failureShare: 0.3)
    }
    let ids = try rehearsal.subscribe(20)
    try await rehearsal.running(["a", "b"]) {
      let campaign = try await rehearsal.startCampaign()
      for _ in 0..<13 {
        try rehearsal.pass(.seconds(10), duplicates: 3)
        try await rehearsal.settle()
      }
      let completion = try #require(try await rehearsal.campaigns.table()[campaign.id]?.completion)
      #expect(completion.succeeded + completion.failed == 20 && completion.failed > 0)
      let progress = try await rehearsal.progress(of: campaign)
      #expect(progress.agrees(with: completion), "\(progress) \(completion)")
      rehearsal.time.advance(by: .seconds(8 * 86_400))
      try await rehearsal.settle()
      let report = try await CampaignSurvey(rehearsal.campaigns, rehearsal.configuration).report(
        on: try #require(try await rehearsal.campaigns.table()[campaign.id]))
      #expect(report.progress == progress && report.undecided == 0 && report.perSecond == 16)
    }
    #expect(ids.allSatisfy { rehearsal.extensions(of: $0) == 1 })
    let names = try rehearsal.events().map(\.name)
    #expect(names.count { $0 == "campaign.completed" } == 1 && !names.contains("campaign.differs"))
    #expect(rehearsal.services.report.broken.isEmpty)
  }
}
