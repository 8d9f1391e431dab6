// Reads the settings in a scenario: products, behaviour, delivery and the API.

internal import AppStore

extension Product {
  init(_ fields: inout Fields) throws(ScenarioError) {
    self.init(productId: try fields.required("productId", fields.text("productId")))
    let types: [(String, ProductType)] = [
      ("auto-renewable", .autoRenewableSubscription), ("consumable", .consumable), ("non-consumable", .nonConsumable),
      ("non-renewing", .nonRenewingSubscription),
    ]
    type = try fields.value(of: "type", among: types) ?? .autoRenewableSubscription
    group = try fields.text("group") ?? (isSubscription ? group : nil)
    level = Int(try fields.integer("level", in: 1...1_000) ?? 1)
    if let text = try fields.text("period") {
      guard let period = SubscriptionPeriod(iso8601: text) else {
        throw fields.error("period", "expected an ISO 8601 duration of one unit, such as P1M")
      }
      self.period = period
    }
    price = try fields.price("price") ?? price
    commitment = try fields.integer("commitment", in: 2...100)
    guard commitment == nil || isSubscription else {
      throw fields.error("commitment", "only an auto-renewable subscription has a commitment")
    }
    currency = try fields.text("currency") ?? currency
    gracePeriod = try fields.duration("gracePeriod")
    for var offer in try fields.sections("offers") { offers.append(try Offer(&offer)) }
    try fields.finish()
  }
}

extension Offer {
  fileprivate init(_ fields: inout Fields) throws(ScenarioError) {
    let types: [(String, OfferType)] = [
      ("introductory", .introductoryOffer), ("promotional", .promotionalOffer), ("code", .offerCode),
      ("win-back", .winBackOffer),
    ]
    let payments = OfferDiscountType.allKnown.map { ($0.rawValue, $0) }
    let period = try fields.text("period").flatMap { SubscriptionPeriod(iso8601: $0) }
    let discountType = try fields.value(of: "discountType", among: payments) ?? .freeTrial
    self.init(
      identifier: try fields.required("identifier", fields.text("identifier")),
      type: try fields.required("type", fields.value(of: "type", among: types)), discountType: discountType,
      period: try fields.required("period", period), price: try fields.price("price") ?? 0)
    try fields.finish()
  }
}

extension Behaviour {
  /// Reads the section; keys it does not set keep the values of `other`.
  init(_ fields: inout Fields, from other: Behaviour) throws(ScenarioError) {
    self.init(
      billingFails: try fields.share("billingFails") ?? other.billingFails,
      recovers: try fields.share("recovers") ?? other.recovers,
      recoversWithin: try fields.duration("recoversWithin") ?? other.recoversWithin,
      cancels: try fields.share("cancels") ?? other.cancels)
  }
}

extension Scenario {
  mutating func read(delivery fields: inout Fields) throws(ScenarioError) {
    if let latency = try fields.duration("latency") { delivery.latency = latency...latency }
    delivery.duplicates = try fields.share("duplicates") ?? delivery.duplicates
    delivery.duplicatesWithin = try fields.duration("duplicatesWithin") ?? delivery.duplicatesWithin
    delivery.reordered = try fields.share("reordered") ?? delivery.reordered
    delivery.reorderedBy = try fields.duration("reorderedBy") ?? delivery.reorderedBy
    delivery.burstEvery = try fields.duration("burstEvery")
    delivery.retriesAfterClientError =
      try fields.flag("retriesAfterClientError") ?? delivery.retriesAfterClientError
    delivery.concurrency = Int(try fields.integer("concurrency", in: 1...10_000) ?? Int64(delivery.concurrency))
    delivery.timeout = try fields.duration("timeout") ?? delivery.timeout
    for var pause in try fields.sections("pauses") {
      let after = try pause.required("after", pause.duration("after"))
      deliveryPauses.append((after, after + (try pause.required("for", pause.duration("for")))))
      try pause.finish()
    }
    try fields.finish()
  }

  mutating func read(server fields: inout Fields) throws(ScenarioError) {
    server.host = try fields.text("host") ?? server.host
    server.productionPort = try fields.integer("port", in: 0...65_535).map { Int($0) } ?? server.productionPort
    server.sandboxPort = try fields.integer("sandboxPort", in: 0...65_535).map { Int($0) } ?? server.sandboxPort
    let models = RequestMemoryModel.allCases.map { ($0.rawValue, $0) }
    server.requestMemory = try fields.value(of: "remembers", among: models) ?? server.requestMemory
    server.tokenSkew = try fields.duration("tokenSkew") ?? server.tokenSkew
    server.paginationTokenLifetime =
      try fields.duration("paginationTokenLifetime") ?? server.paginationTokenLifetime
    if var limits = try fields.section("limits") {
      server.limits.divisor = try limits.number("divisor", in: 0.001...1_000_000) ?? 1
      server.limits.sandboxFactor = try limits.number("sandboxFactor", in: 0.0001...1) ?? server.limits.sandboxFactor
      if var perSecond = try limits.section("perSecond") {
        for endpoint in SimulatedEndpoint.allCases {
          guard let limit = try perSecond.number(endpoint.rawValue, in: 0.001...1_000_000) else { continue }
          server.limits.perSecond[endpoint] = limit
        }
        try perSecond.finish()
      }
      try limits.finish()
    }
    if var mass = try fields.section("massExtension") {
      server.massExtension = MassExtensionSettings(
        startDelay: try mass.duration("startDelay") ?? server.massExtension.startDelay,
        duration: try mass.duration("duration") ?? server.massExtension.duration,
        failureShare: try mass.share("failureShare") ?? server.massExtension.failureShare)
      try mass.finish()
    }
    if var refunds = try fields.section("refunds") {
      server.refunds = RefundPolicy(
        decisionDelay: try refunds.duration("decisionDelay") ?? server.refunds.decisionDelay,
        answerDeadline: try refunds.duration("answerDeadline") ?? server.refunds.answerDeadline,
        followsPreference: try refunds.share("followsPreference") ?? server.refunds.followsPreference,
        grantShare: try refunds.share("grantShare") ?? server.refunds.grantShare,
        reversalShare: try refunds.share("reversalShare") ?? server.refunds.reversalShare,
        reversalDelay: try refunds.duration("reversalDelay") ?? server.refunds.reversalDelay)
      try refunds.finish()
    }
    if var messaging = try fields.section("messaging") {
      server.messaging.reviewDelay = try messaging.duration("reviewDelay") ?? server.messaging.reviewDelay
      server.messaging.performanceTestDuration =
        try messaging.duration("performanceTestDuration") ?? server.messaging.performanceTestDuration
      server.messaging.passesPerformanceTest =
        try messaging.flag("passesPerformanceTest") ?? server.messaging.passesPerformanceTest
      try messaging.finish()
    }
    try fields.finish()
  }
}
