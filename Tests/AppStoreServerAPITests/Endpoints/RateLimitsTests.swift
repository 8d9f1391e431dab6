import AppStore
import TestEnvironment
import Testing

@testable import AppStoreServerAPI

@Suite struct RateLimitsTests {
  @Test func `every endpoint has a limit, and a tenth of it in the sandbox`() {
    for endpoint in APIEndpoint.allCases {
      let limit = RateLimits.documented.perSecond(endpoint, in: .production)
      #expect(limit >= 1, "\(endpoint)")
      #expect(abs(RateLimits.documented.perSecond(endpoint, in: .sandbox) - limit / 10) < 1e-9, "\(endpoint)")
    }
  }

  @Test func `a divisor divides both environments`() {
    var limits = RateLimits.documented
    limits.divisor = 600
    #expect(limits.perSecond(.getTransactionInfo, in: .production) == 50.0 / 600)
    #expect(abs(limits.perSecond(.getTransactionInfo, in: .sandbox) - 5.0 / 600) < 1e-12)
  }

  @Test(.enabled(if: SharedMaterial.isPresent, "../shared is absent"))
  func `the limits match Apple's table`() throws {
    let facts = try SharedMaterial.json("app-store-facts/endpoints.json").objects("endpoints")
    for endpoint in APIEndpoint.allCases {
      let fact = try #require(facts.first { $0.string("name") == endpoint.rawValue }, "\(endpoint)")
      if let documented = fact.integer("rateLimitPerSecondProduction") {
        #expect(RateLimits.documented.perSecond(endpoint, in: .production) == Double(documented), "\(endpoint)")
      }
    }
  }
}
