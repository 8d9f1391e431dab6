import AppStore
import MillraceTime
import Foundation
import Logging
import TestEnvironment
import Testing

@testable import AppStoreSimulator

@Suite struct ScenarioReadingTests {
  private static let smallest = """
    apps:
      - bundleId: com.example.app
        appAppleId: 1
        products: [{ productId: monthly }]

    """

  /// The names of the project's scenarios. A listing would miss a file that was removed.
  private static let files = [
    "consumption-request-day", "customers", "demo", "every-kind", "gap", "operations", "outage-mass-extension",
    "refund-wave", "renewal-storm", "subscriptions",
  ]

  private static func file(_ name: String) throws -> Scenario {
    #expect(
      try Project.names(in: "scenarios").filter { $0.hasSuffix(".yaml") } == files.map { $0 + ".yaml" })
    return try Scenario(yaml: Project.text("scenarios/\(name).yaml"))
  }

  @Test(arguments: files)
  func `the project's scenarios run to their end, and every event in them happens`(
    name: String
  ) throws {
    var scenario = try Self.file(name)
    #expect(!scenario.events.isEmpty && !scenario.destinations.isEmpty && scenario.customerCount > 0)
    let duration = try #require(scenario.duration)
    // A tenth of the customers is enough.
    for index in scenario.population.indices where scenario.population[index].count > 500 {
      scenario.population[index].count /= 10
    }
    for index in scenario.events.indices {
      if case .times(let count) = scenario.events[index].count {
        scenario.events[index].count = .times(max(1, count / 10))
      }
    }
    let time = ManualClock(start: scenario.origin ?? .newYear)
    let simulator = try Simulator(
      scenario, chain: SimulatorFixture.chain.get(), clock: time.clock, logger: Logger(label: "test"))
    time.advance(by: duration)
    try simulator.world.run(until: simulator.origin + duration)
    for event in simulator.report.events {
      #expect(event.done == event.wanted && event.problem == nil, "\(event)")
    }
    #expect(simulator.world.nextEvent.map { $0 > simulator.origin + duration } ?? true)
  }

  @Test(
    arguments: [
      ("colour: blue", "colour: unknown key"),
      ("world: { behaviour: { bilingFails: 0.1 } }", "world.behaviour.bilingFails: unknown key"),
      ("world: { behaviour: { billingFails: 1.5 } }", "world.behaviour.billingFails: expected a number from 0.0"),
      ("events: [{ do: dance }]", "events[0].do: no such action"),
      ("events: [{ do: renew, evry: 5m }]", "events[0].evry: unknown key"),
      ("events: [{ do: renew, app: other }]", "events[0].app: no app other"),
      ("events: [{ do: renew, product: yearly }]", "events[0].product: com.example.app has no product yearly"),
      ("events: [{ do: changePlan }]", "events[0].to: missing"),
      ("events: [{ do: refund, reason: mood }]", "events[0].reason: expected one of issue, other"),
      ("events: [{ do: changePrice, price: 1000000000001 }]", "events[0].price: expected a whole number from 0 to"),
      (
        "apps: [{ bundleId: a, appAppleId: 1, products: [{ productId: it, commitment: 1 }] }]",
        "apps[0].products[0].commitment: expected a whole number from 2 to 100"
      ),
      (
        "apps: [{ bundleId: a, appAppleId: 1, products: [{ productId: it, type: consumable, commitment: 12 }] }]",
        "apps[0].products[0].commitment: only an auto-renewable subscription"
      ),
      ("events: [{ do: send, type: DID_RENEW, subtype: UPGRADE }]", "events[0].type: expected one of Apple's"),
      ("events: [{ do: renew, after: soon }]", "events[0].after: expected a duration"),
      ("events: [{ do: renew, count: 2, share: 0.5 }]", "events[0].share: expected count or share"),
      ("faults: [{ effect: rain }]", "faults[0].effect: expected one of"),
      ("faults: [{ effect: outage, untill: 5m }]", "faults[0].untill"),
      ("world: { customers: [{ count: 1, products: [other] }] }", "world.customers[0].products: com.example.app has"),
      ("world: { customers: [{ count: 1, storefronts: [NOWHERE] }] }", "world.customers[0].storefronts: expected some"),
      ("server: { limits: { perSecond: { dance: 1 } } }", "server.limits.perSecond.dance: unknown key"),
      ("server: { remembers: all }", "server.remembers: expected one of everything, successes, nothing"),
      ("clock: { origin: yesterday }", "clock.origin: expected a time"),
      ("delivery: { pauses: [{ after: 1h }] }", "delivery.pauses[0].for: missing"),
      ("apps: []", "apps: "), ("[1, 2]", "expected a mapping"), ("a: [", "not valid YAML"),
    ])
  func `an error names its key`(yaml: String, expected: String) throws {
    let text = yaml.hasPrefix("apps") || yaml.hasPrefix("[") ? yaml : Self.smallest + yaml
    let error = try #require(throws: ScenarioError.self) { _ = try Scenario(yaml: text) }
    #expect(error.description.contains(expected), "\(error)")
  }

  @Test func `every setting is understood`() throws {
    let scenario = try Scenario(
      yaml: """
        seed: 7
        clock: { origin: "2026-03-01T00:00:00Z", rate: 600 }
        duration: 3d
        signing: { rotateEvery: 30d }
        apps:
          - bundleId: com.example.app
            appAppleId: 42
            environments: [Sandbox, Production]
            version: 1.2.3
            sharedSecretFile: secret.txt
            api: [{ issuerId: issuer, keyId: 12345, publicKeyFile: key.pem }]
            notifications:
              Production: { url: "http://one/v2" }
              Sandbox: { url: "http://one/v1", version: 1 }
            products:
              - productId: monthly
                group: 123
                period: P1M
                gracePeriod: 16d
                offers: [{ identifier: TRY, type: code, discountType: FREE_TRIAL, period: P1W }]
              - { productId: committed, group: 124, commitment: 12 }
              - { productId: coins, type: consumable }
        world:
          customers: [{ count: 3, storefronts: [USA, DEU], since: 60d, environment: Production }]
          behaviour: { billingFails: 0.1, cancels: 0.2 }
          remember: { notifications: 10 }
        events:
          - { do: requestRefund, after: 10m, for: 1h, share: 0.5, product: monthly, reason: LEGAL }
          - { do: refund, percentage: 40, reason: issue }
          - { do: send, type: RENEWAL_EXTENSION, subtype: SUMMARY, environment: Sandbox }
        delivery: { duplicates: 0.1, burstEvery: 5m, retriesAfterClientError: false, pauses: [{ after: 1h, for: 2h }] }
        server: { port: 0, sandboxPort: 0, remembers: nothing, limits: { divisor: 60, perSecond: { lookUpOrderId: 2 } } }
        """, readFile: { $0 == "key.pem" ? "PEM\n" : "  s3cret\n" })
    #expect(scenario.seed == 7 && scenario.server.seed == 7 && scenario.rate == 600)
    #expect(scenario.origin == Timestamp(rfc3339: "2026-03-01T00:00:00Z"))
    #expect(scenario.leafInterval == .seconds(30 * 86_400))
    let app = try #require(scenario.apps.first)
    #expect(app.sharedSecret == "s3cret" && app.version == "1.2.3")
    #expect(app.credentials == [PublicAPIKey(issuerId: "issuer", keyId: "12345", publicKeyPEM: "PEM")])
    #expect(app.products.first?.group == "123" && app.products.first?.offers.count == 1)
    #expect(app.products.map(\.commitment) == [nil, 12, nil])
    #expect(app.products.last?.type == .consumable && app.products.last?.group == nil)
    let key = Scenario.DestinationKey(bundleId: app.bundleId, environment: .sandbox)
    #expect(scenario.destinations[key] == Destination(url: "http://one/v1", version: .v1))
    #expect(scenario.events.first?.action == .requestRefund(.legal))
    #expect(scenario.events.dropFirst().first?.action == .refund(percentage: 40_000, reason: .refundedDueToIssue))
    #expect(scenario.events.first?.count == .share(0.5))
    #expect(scenario.events.last?.target.environment == .sandbox)
    #expect(scenario.deliveryPauses.first?.until == .seconds(3 * 3_600))
    #expect(scenario.server.limits.perSecond[.lookUpOrderId] == 2 && scenario.server.requestMemory == .nothing)
    #expect(scenario.limits.notifications == 10)
  }

  @Test func `a target replaces the scenario's URLs of its version, and applies to apps without one`() throws {
    var scenario = try Scenario(
      yaml: """
        apps:
          - bundleId: com.example.app
            appAppleId: 1
            notifications:
              Production: { url: "http://one/v2" }
              Sandbox: { url: "http://one/v1", version: 1 }
          - { bundleId: com.example.other, appAppleId: 2, environments: [Production] }
        """)
    func destination(_ bundleId: String, _ environment: AppStoreEnvironment) -> Destination? {
      scenario.destinations[Scenario.DestinationKey(bundleId: bundleId, environment: environment)]
    }
    var onlyV1 = scenario
    onlyV1.redirect(v2: nil, v1: "http://two/v1")
    scenario.redirect(v2: "http://two/v2", v1: nil)
    #expect(destination("com.example.app", .production) == Destination(url: "http://two/v2"))
    #expect(destination("com.example.app", .sandbox) == Destination(url: "http://one/v1", version: .v1))
    #expect(destination("com.example.other", .production) == Destination(url: "http://two/v2"))
    scenario = onlyV1
    #expect(destination("com.example.app", .production) == Destination(url: "http://one/v2"))
    #expect(destination("com.example.app", .sandbox) == Destination(url: "http://two/v1", version: .v1))
    #expect(destination("com.example.other", .production) == Destination(url: "http://two/v1", version: .v1))
  }
}
