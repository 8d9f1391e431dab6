import AppStoreSigning
import MillraceCore
import Testing

@testable import Ingress

@Suite struct BodyBudgetTests {
  @Test func `the budget grants bytes up to its limit and no more`() {
    let budget = BodyBudget(bytes: 100)
    #expect(budget.reserve(60))
    #expect(!budget.reserve(41))
    #expect(budget.current == 60)
    #expect(budget.reserve(40))
    budget.giveBack(100)
    #expect(budget.current == 0)
  }

  @Test(arguments: [
    (1, 5000, 5000), (1, 2 << 20, 8 << 10), (5000, 17_000, 10_000), (10_000, 17_000, 17_000), (300, 100, 300),
    (1 << 20, 2 << 20, 2 << 20),
  ])
  func `space grows with the bytes received, up to the announced length`(size: Int, announced: Int, room: Int) {
    #expect(BodyBudget.room(for: size, announced: announced) == room)
  }

  @Test func `connections that only begin a body leave half of the budget in any configuration`() {
    var generator = SeededGenerator(seed: 61)
    for _ in 0..<200 {
      var settings = IngressSettings()
      settings.maxConnections = .random(in: 1...1_000_000, using: &generator)
      settings.maxRequestsInFlight = .random(in: 1...100_000, using: &generator)
      settings.maxBodyBytes.v1 = .random(in: (64 << 10)...(64 << 20), using: &generator)
      let bytes = BodyBudget.bytes(settings)
      #expect(bytes >= 2 * BodyBudget.firstStep * settings.maxConnections, "\(settings)")
      #expect(bytes >= 4 * settings.maxBodyBytes.v1, "\(settings)")
      #expect(bytes >= settings.maxRequestsInFlight * 19_000, "\(settings)")
    }
    #expect(BodyBudget.bytes(IngressSettings()) == 64 << 20)
  }
}
