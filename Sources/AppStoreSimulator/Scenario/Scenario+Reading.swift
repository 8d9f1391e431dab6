// Reads a scenario file, section by section.

internal import AppStore
internal import MillraceTime

extension Scenario {
  /// Reads a scenario from YAML.
  ///
  /// - Parameter readFile: reads a file that the scenario names. The path is passed as the scenario gives it.
  /// - Throws: ``ScenarioError`` for the first key that is unknown, missing or invalid.
  public init(
    yaml: String, readFile: (String) throws -> String = { _ in throw ScenarioError("", "files cannot be read here") }
  ) throws(ScenarioError) {
    var fields = Fields(try ScenarioDocument.object(parsing: yaml), at: "")
    self.init()
    _ = try fields.text("description")
    seed = UInt64(try fields.integer("seed") ?? 1)
    if var clock = try fields.section("clock") {
      origin = try clock.moment("origin")
      rate = try clock.number("rate", in: 0.001...1_000_000) ?? 1
      try clock.finish()
    }
    duration = try fields.duration("duration")
    if var signing = try fields.section("signing") {
      leafInterval = try signing.duration("rotateEvery")
      try signing.finish()
    }
    for var app in try fields.sections("apps") { try read(app: &app, readFile) }
    guard !apps.isEmpty else { throw ScenarioError("apps", "at least one app is needed") }
    if var world = try fields.section("world") { try read(world: &world) }
    for var event in try fields.sections("events") { events.append(try self.event(&event)) }
    for var fault in try fields.sections("faults") {
      let path = fault.path
      let json = fault.rest()
      do {
        _ = try Fault(json: json, origin: Timestamp(millisecondsSince1970: 0))
      } catch {
        throw ScenarioError(error.key.map { "\(path).\($0)" } ?? path, error.expectation, nearest: error.nearest)
      }
      faults.append(json)
    }
    if var delivery = try fields.section("delivery") { try read(delivery: &delivery) }
    if var server = try fields.section("server") { try read(server: &server) }
    server.seed = seed
    try fields.finish()
  }

  private mutating func read(
    app fields: inout Fields, _ readFile: (String) throws -> String
  ) throws(ScenarioError) {
    var app = SimulatedApp(
      bundleId: try fields.required("bundleId", fields.text("bundleId")),
      appAppleId: try fields.required("appAppleId", fields.integer("appAppleId")))
    if let names = try fields.texts("environments") {
      app.environments = names.map { AppStoreEnvironment(rawValue: $0) }
      guard !names.isEmpty, Set(app.environments).isSubset(of: [.production, .sandbox]) else {
        throw fields.error("environments", "expected a list of Production and Sandbox")
      }
    }
    app.version = try fields.text("version") ?? app.version
    app.sharedSecret = try fields.text(inFile: "sharedSecretFile", readFile)
    for var key in try fields.sections("api") {
      app.credentials.append(
        PublicAPIKey(
          issuerId: try key.required("issuerId", key.text("issuerId")),
          keyId: try key.required("keyId", key.text("keyId")),
          publicKeyPEM: try key.required("publicKeyFile", key.text(inFile: "publicKeyFile", readFile))))
      try key.finish()
    }
    for var product in try fields.sections("products") { app.products.append(try Product(&product)) }
    guard Set(app.products.map(\.productId)).count == app.products.count else {
      throw fields.error("products", "two products have the same productId")
    }
    if var notifications = try fields.section("notifications") {
      for environment in app.environments {
        guard var destination = try notifications.section(environment.rawValue) else { continue }
        let version = try destination.integer("version", in: 1...2) ?? 2
        destinations[DestinationKey(bundleId: app.bundleId, environment: environment)] = Destination(
          url: try destination.required("url", destination.text("url")), version: version == 1 ? .v1 : .v2)
        try destination.finish()
      }
      try notifications.finish()
    }
    try fields.finish()
    apps.append(app)
  }

  private mutating func read(world fields: inout Fields) throws(ScenarioError) {
    for var group in try fields.sections("customers") { population.append(try population(&group)) }
    if var behaviour = try fields.section("behaviour") {
      self.behaviour = try Behaviour(&behaviour, from: self.behaviour)
      try behaviour.finish()
    }
    if var limits = try fields.section("remember") {
      self.limits = WorldLimits(
        notifications: Int(try limits.integer("notifications", in: 1...100_000_000) ?? 100_000),
        transactionsPerCustomer: Int(try limits.integer("transactionsPerCustomer", in: 1...1_000_000) ?? 200))
      try limits.finish()
    }
    try fields.finish()
  }

  private func population(_ fields: inout Fields) throws(ScenarioError) -> Population {
    let app = try app(&fields)
    let population = Population(
      bundleId: app.bundleId,
      environment: try fields.environment("environment") ?? app.environments.first ?? .production,
      count: Int(try fields.required("count", fields.integer("count", in: 1...10_000_000))),
      products: try fields.texts("products") ?? app.products.prefix(1).map(\.productId),
      storefronts: try storefronts(&fields) ?? ["USA"],
      since: try fields.duration("since") ?? .seconds(365 * 86_400),
      ownership: try fields.flag("familyShared") == true ? .familyShared : .purchased,
      family: Int(try fields.integer("family", in: 0...Int64(WorldState.largestFamily)) ?? 0))
    for product in population.products where !app.products.contains(where: { $0.productId == product }) {
      throw fields.error(
        "products", "\(app.bundleId) has no product \(product)", nearestTo: product,
        among: app.products.map(\.productId))
    }
    guard population.family == 0 || population.ownership == .purchased else {
      throw fields.error("family", "a family-shared purchase cannot be shared; use family or familyShared, not both")
    }
    guard app.environments.contains(population.environment) else {
      throw fields.error("environment", "\(app.bundleId) is not sold in \(population.environment)")
    }
    try fields.finish()
    return population
  }

  private func storefronts(_ fields: inout Fields) throws(ScenarioError) -> [String]? {
    guard let codes = try fields.texts("storefronts") else { return nil }
    let odd = codes.first { !Storefronts.codes.contains($0) }
    guard !codes.isEmpty, odd == nil else {
      throw fields.error(
        "storefronts", "expected some of \(Storefronts.codes.joined(separator: ", "))", nearestTo: odd ?? "",
        among: Storefronts.codes)
    }
    return codes
  }

  /// The app that a section names, or the first app if the section names none.
  private func app(_ fields: inout Fields) throws(ScenarioError) -> SimulatedApp {
    let name = try fields.text("app")
    guard let app = apps.first(where: { name == nil || $0.bundleId == name }) else {
      throw fields.error(
        "app", "no app \(name ?? "") in this scenario", nearestTo: name ?? "", among: apps.map(\.bundleId))
    }
    return app
  }

  /// Reads an event.
  ///
  /// - Throws: ``ScenarioError`` if the section is not a valid event or names something the scenario does not have.
  func event(_ fields: inout Fields) throws(ScenarioError) -> ScenarioEvent {
    let event = try ScenarioEvent(&fields)
    let target = event.target
    guard let app = apps.first(where: { target.bundleId == nil || $0.bundleId == target.bundleId }) else {
      let name = target.bundleId ?? ""
      throw fields.error("app", "no app \(name) in this scenario", nearestTo: name, among: apps.map(\.bundleId))
    }
    if let environment = target.environment, !app.environments.contains(environment) {
      throw fields.error("environment", "\(app.bundleId) is not sold in \(environment)")
    }
    for (key, name) in [("product", target.productId), ("to", event.action.productId)] {
      guard let name, !app.products.contains(where: { $0.productId == name }) else { continue }
      throw fields.error(
        key, "\(app.bundleId) has no product \(name)", nearestTo: name, among: app.products.map(\.productId))
    }
    for code in target.storefronts ?? [] where !Storefronts.codes.contains(code) {
      throw fields.error(
        "storefronts", "unknown storefront \(code)", nearestTo: code, among: Storefronts.codes)
    }
    return event
  }
}
