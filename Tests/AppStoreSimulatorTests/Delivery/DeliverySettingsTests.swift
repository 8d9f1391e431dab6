import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct DeliverySettingsTests {
  private func facts(_ count: Int) -> [NotificationFacts] {
    var generator = SeededGenerator(seed: 9)
    return (0..<count).map { number in
      NotificationFacts(
        uuid: CompactUUID(using: &generator), sequence: Int64(number), realm: 0, kind: SampleKind(.test),
        signedDate: .newYear, content: .test)
    }
  }

  @Test func `by default everything is sent once, soon, and reproducibly`() {
    for facts in facts(200) {
      let plan = DeliveryPlan(facts, DeliverySettings())
      #expect(plan.duplicate == nil)
      #expect((Duration.milliseconds(120)...Duration.milliseconds(600)).contains(plan.first - .newYear))
      #expect(plan == DeliveryPlan(facts, DeliverySettings()))
    }
  }

  @Test func `the shares of duplicates and delays match the settings`() {
    var settings = DeliverySettings()
    settings.duplicates = 0.3
    settings.reordered = 0.2
    let plans = facts(5_000).map { DeliveryPlan($0, settings) }
    let duplicates = Double(plans.count { $0.duplicate != nil }) / 5_000
    let held = Double(plans.count { $0.first - .newYear > .seconds(1) }) / 5_000
    #expect((0.27...0.33).contains(duplicates))
    #expect((0.17...0.23).contains(held))
    for plan in plans { #expect(plan.duplicate.map { $0 >= plan.first } ?? true) }
  }

  @Test func `bursts occur at multiples of their interval, and a pause ends with everything at once`() {
    var settings = DeliverySettings()
    settings.burstEvery = .seconds(60)
    #expect(settings.moment(for: Timestamp(millisecondsSince1970: 60_001)).millisecondsSince1970 == 120_000)
    #expect(settings.moment(for: Timestamp(millisecondsSince1970: 120_000)).millisecondsSince1970 == 120_000)
    settings.burstEvery = nil
    settings.pauses = [
      .init(from: .newYear + .seconds(20), until: .newYear + .seconds(30)),
      .init(from: .newYear + .seconds(10), until: .newYear + .seconds(20)),
    ]
    #expect(settings.moment(for: .newYear + .seconds(9)) == .newYear + .seconds(9))
    #expect(settings.moment(for: .newYear + .seconds(10)) == .newYear + .seconds(30))
    #expect(settings.moment(for: .newYear + .seconds(30)) == .newYear + .seconds(30))
  }
}
