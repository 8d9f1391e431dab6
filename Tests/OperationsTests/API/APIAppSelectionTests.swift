import AppStore
import AppStoreServerAPI
import MillraceTime
import Foundation
import MillraceCore
import Testing

@testable import Operations

@Suite("App selection for API commands")
struct APIAppSelectionTests {
  private let fixture: APIFixture

  init() throws { fixture = try APIFixture() }

  @Test("the only configured app is selected without a flag")
  func only() throws {
    let app = try APIApp(app: nil, environment: nil, in: fixture.configuration())
    #expect(app.settings.bundleId == "com.example.app" && app.environment == nil && app.oneEnvironment == .production)
    #expect(try APIApp(app: nil, environment: "Sandbox", in: fixture.configuration()).oneEnvironment == .sandbox)
  }

  @Test("with several apps, a flag selects one")
  func several() throws {
    var configuration = try fixture.configuration()
    var other = configuration.apps[0]
    other.bundleId = "com.example.second"
    other.environments = [.sandbox]
    configuration.apps.append(other)
    let app = try APIApp(app: "com.example.second", environment: nil, in: configuration)
    #expect(app.place == "apps[1]" && app.oneEnvironment == .sandbox)
    let table: [(String?, String?, String)] = [
      (nil, nil, "--app"), ("com.example.third", nil, "com.example.app, com.example.second"),
      ("com.example.second", "Production", "--environment"), ("com.example.app", "production", "Production, Sandbox"),
    ]
    for (name, environment, part) in table {
      let error = #expect(throws: OperationError.self) {
        try APIApp(app: name, environment: environment, in: configuration)
      }
      #expect(error?.kind == .usage && error?.description.contains(part) == true, "\(part)")
    }
  }

  @Test("the error names the missing configuration key if there are no credentials or no app")
  func credentials() throws {
    var configuration = try fixture.configuration()
    configuration.apps[0].api.privateKeyFile = nil
    #expect(throws: MillraceError.self) { try APIApp(app: nil, environment: nil, in: configuration) }
    configuration.apps = []
    let error = #expect(throws: MillraceError.self) { try APIApp(app: nil, environment: nil, in: configuration) }
    #expect(error?.problems.first?.place == "apps")
  }

  @Test("a command takes its part of the configured share of Apple's limits, or of a rehearsal's")
  func budget() async throws {
    var settings = try fixture.configuration().appStore
    settings.share = 0.5
    settings.limitDivisor = 2
    let budget = APIAccess.budget(settings, part: APIAccess.readingPart, clock: fixture.time.clock)
    for (environment, perSecond) in [(AppStoreEnvironment.production, 3.125), (.sandbox, 0.3125)] {
      let key = BudgetKey(bundleId: "com.example.app", environment: environment, endpoint: .getTransactionInfo)
      try await budget.acquire(key)
      // Apple documents 50 requests per second.
      #expect(budget.use().first { $0.key == key }.map { abs($0.perSecond - perSecond) < 1e-9 } == true)
    }
  }

  @Test("the error names an invalid key file but not its content")
  func keyFile() throws {
    let configuration = try fixture.configuration()
    let app = try APIApp(app: nil, environment: nil, in: configuration)
    let path = try #require(app.settings.api.privateKeyFile)
    try Data("a secret that is no key".utf8).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: MillraceError.self) { try APIAccess.credentials(of: app) }
    #expect(error?.description.contains("apps[0].api.privateKeyFile: \(path)") == true)
    #expect(error?.description.contains("secret") == false)
    try FileManager.default.removeItem(atPath: path)
    let missing = #expect(throws: MillraceError.self) { try APIAccess.credentials(of: app) }
    #expect(missing?.description.contains("No such file") == true)
  }
}
