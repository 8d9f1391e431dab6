// Creates the customers that exist when a scenario begins. Their past causes no notifications.

internal import AppStore
internal import AppStoreSigning

extension WorldState {
  /// Runs `body` without sending notifications.
  mutating func quietly<Result>(
    _ body: (inout WorldState) throws(WorldError) -> Result
  ) throws(WorldError) -> Result {
    let wasQuiet = isQuiet
    isQuiet = true
    defer { isQuiet = wasQuiet }
    return try body(&self)
  }

  /// Adds customers whose purchases are spread over the past.
  mutating func settle(_ population: Scenario.Population, at now: Timestamp) throws(WorldError) {
    guard let realm = realm(bundleId: population.bundleId, environment: population.environment) else {
      throw .noSuchRealm(bundleId: population.bundleId, environment: population.environment)
    }
    guard !population.products.isEmpty, !population.storefronts.isEmpty else { return }
    horizon = now
    defer { horizon = nil }
    try quietly { state throws(WorldError) in
      for number in 0..<population.count {
        let age = population.since * Double.random(in: 0..<1, using: &state.generator)
        let bought = now - age
        let customer = try state.addCustomer(
          to: realm, storefront: population.storefronts[number % population.storefronts.count],
          at: bought - .seconds(Int64.random(in: 60...86_400, using: &state.generator)))
        let product = population.products[number / population.storefronts.count % population.products.count]
        let token = CompactUUID(using: &state.generator)
        let id = try state.purchase(
          product, by: customer, ownership: population.ownership, appAccountToken: token, at: bought)
        try state.catchUp(id, until: now)
        for _ in 0..<population.family { try state.share(id, at: now) }
      }
    }
  }

  /// Renews a subscription until its period extends beyond `now`.
  mutating func catchUp(_ original: Int64, until now: Timestamp) throws(WorldError) {
    while let subscription = subscriptions[original], subscription.expires <= now {
      try renew(original, at: subscription.expires)
    }
  }
}
