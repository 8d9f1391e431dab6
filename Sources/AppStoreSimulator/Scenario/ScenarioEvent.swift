// An event of a scenario: the action, the customers it applies to, its time and its count.

package import AppStore
package import AppStoreSigning

/// The action of an event.
package enum ScenarioAction: Sendable, Hashable {
  /// New customers buy the event's product.
  case purchase(offer: String?)
  /// The subscription renews immediately, ahead of its date.
  case renew
  /// Billing fails at renewal. The current period ends after `left`, or immediately if the product has no grace period.
  case failToRenew(left: Duration)
  /// Billing succeeds after a failed renewal.
  case recover
  /// The subscription expires.
  case expire(ExpirationIntent)
  /// The customer turns auto-renewal on or off.
  case setRenewal(isOn: Bool)
  /// A customer resubscribes after expiration, to the same product or another one in its group.
  case resubscribe(to: String?)
  /// A family member receives access to the customer's purchase.
  case share
  /// The customer changes to another plan.
  case changePlan(to: String)
  /// The customer redeems an offer for a product.
  case redeemOffer(String, of: String)
  /// The App Store announces a higher price.
  case announcePriceIncrease(to: Int64, needsConsent: Bool)
  /// The customer consents to the higher price.
  case acceptPriceIncrease
  /// The customer requests a refund. Apple decides according to the API's refund settings.
  case requestRefund(ConsumptionRequestReason)
  /// Apple refunds the purchase immediately. Without a reason, the refund follows the customer's request.
  case refund(percentage: Int64, reason: RevocationReason? = nil)
  /// Apple declines a requested refund.
  case declineRefund
  /// Apple reverses a refund.
  case reverseRefund
  /// The family member loses access through Family Sharing.
  case revoke
  /// The renewal date is extended.
  case extendRenewal(days: Int)
  /// The team requests a mass extension for the event's product through the API.
  case massExtend(days: Int, reasonCode: Int64)
  /// A mass extension fails for the subscription.
  case failExtension
  /// The subscription migrates to the Advanced Commerce API.
  case migrate
  /// The metadata of the subscription changes.
  case updateMetadata
  /// The price of the subscription changes.
  case changePrice(to: Int64)
  /// A parent withdraws consent.
  case rescindConsent
  /// An app requests a token for external purchases.
  case createToken(ExternalPurchaseTokenType)
  /// Apple sends a reminder about the oldest token.
  case remindOfToken(isUnreported: Bool)
  /// The team requests a test notification.
  case test
  /// The event's product is removed from sale, or returned to sale.
  case setForSale(Bool)
  /// Customers and billing behave differently for the duration of the event.
  case behave(Behaviour)
  /// A notification of this type and subtype is sent about a customer created for it.
  case send(SampleKind)

  /// The product that the action names in addition to the event's own product.
  var productId: String? {
    switch self {
    case .changePlan(let product), .redeemOffer(_, let product): product
    case .resubscribe(let product): product
    default: nil
    }
  }
}

/// An event of a scenario.
package struct ScenarioEvent: Sendable, Hashable {
  /// The number of times an event happens.
  package enum Count: Sendable, Hashable {
    /// A fixed number of times.
    case times(Int)
    /// Once for a share of the customers, from 0 to 1.
    case share(Double)
  }

  /// The customers that an event applies to.
  package struct Target: Sendable, Hashable {
    /// The bundle identifier of the app; nil for the scenario's first app.
    package var bundleId: String?
    /// The environment; nil for the app's first environment.
    package var environment: AppStoreEnvironment?
    /// The product whose purchases the event applies to; nil for any product.
    package var productId: String?
    /// The storefronts whose customers the event applies to; nil for any storefront.
    package var storefronts: [String]?

    /// All customers.
    package init() {}
  }

  /// The name of the action, for reports.
  package var name: String
  /// The action.
  package var action: ScenarioAction
  /// The time until the event begins, from the beginning of the scenario.
  package var after: Duration
  /// The time over which the occurrences are spread.
  package var spread: Duration
  /// The number of times the event happens.
  package var count: Count
  /// The customers that the event applies to.
  package var target: Target

  /// An event.
  package init(
    _ name: String, _ action: ScenarioAction, after: Duration = .zero, spread: Duration = .zero,
    count: Count = .times(1), target: Target = Target()
  ) {
    self.name = name
    self.action = action
    self.after = after
    self.spread = spread
    self.count = count
    self.target = target
  }
}

extension ScenarioEvent {
  /// Reads an event from a scenario file or a control request.
  init(_ fields: inout Fields) throws(ScenarioError) {
    let name = try fields.required("do", fields.text("do"))
    let after = try fields.duration("after") ?? .zero
    let spread = try fields.duration("for") ?? .zero
    let share = try fields.share("share")
    let times = try fields.integer("count", in: 1...100_000_000)
    if share != nil, times != nil { throw fields.error("share", "expected count or share, not both") }
    var target = Target()
    target.bundleId = try fields.text("app")
    target.environment = try fields.environment("environment")
    target.productId = try fields.text("product")
    target.storefronts = try fields.texts("storefronts")
    self.init(
      name, try ScenarioAction(name, &fields, product: target.productId), after: after, spread: spread,
      count: share.map { .share($0) } ?? .times(Int(times ?? 1)), target: target)
    try fields.finish()
  }
}

extension ScenarioAction {
  fileprivate init(_ name: String, _ fields: inout Fields, product: String?) throws(ScenarioError) {
    func value<Value>(_ key: String, _ value: Value?) throws(ScenarioError) -> Value {
      try fields.required(key, value)
    }
    guard Self.names.contains(name) else {
      throw fields.error("do", "no such action; docs/simulator.md lists them", nearestTo: name, among: Self.names)
    }
    switch name {
    case "purchase":
      _ = try value("product", product)
      self = .purchase(offer: try fields.text("offer"))
    case "renew": self = .renew
    case "failToRenew": self = .failToRenew(left: try fields.duration("left") ?? .zero)
    case "recover": self = .recover
    case "expire": self = .expire(try fields.value(of: "reason", among: Self.intents) ?? .other)
    case "cancel": self = .setRenewal(isOn: false)
    case "resume": self = .setRenewal(isOn: true)
    case "resubscribe": self = .resubscribe(to: try fields.text("to"))
    case "share": self = .share
    case "changePlan": self = .changePlan(to: try value("to", fields.text("to")))
    case "redeemOffer":
      self = .redeemOffer(
        try value("offer", fields.text("offer")), of: try value("to", fields.text("to") ?? product))
    case "announcePriceIncrease":
      self = .announcePriceIncrease(
        to: try value("price", fields.price("price")), needsConsent: try fields.flag("needsConsent") ?? true)
    case "acceptPriceIncrease": self = .acceptPriceIncrease
    case "requestRefund":
      let reasons = ConsumptionRequestReason.allKnown.map { ($0.rawValue, $0) }
      self = .requestRefund(try fields.value(of: "reason", among: reasons) ?? .unintendedPurchase)
    case "refund":
      self = .refund(
        percentage: try fields.integer("percentage", in: 1...100).map { $0 * 1_000 } ?? 100_000,
        reason: try fields.value(
          of: "reason", among: [("issue", .refundedDueToIssue), ("other", .refundedForOtherReason)]))
    case "declineRefund": self = .declineRefund
    case "reverseRefund": self = .reverseRefund
    case "revoke": self = .revoke
    case "extendRenewal": self = .extendRenewal(days: Int(try value("days", fields.integer("days", in: 1...90))))
    case "massExtend":
      _ = try value("product", product)
      self = .massExtend(
        days: Int(try value("days", fields.integer("days", in: 1...90))),
        reasonCode: try fields.integer("reasonCode", in: 0...3) ?? 3)
    case "failExtension": self = .failExtension
    case "migrate": self = .migrate
    case "updateMetadata": self = .updateMetadata
    case "changePrice": self = .changePrice(to: try value("price", fields.price("price")))
    case "rescindConsent": self = .rescindConsent
    case "createToken":
      let types = ExternalPurchaseTokenType.allKnown.map { ($0.rawValue, $0) }
      self = .createToken(try fields.value(of: "tokenType", among: types) ?? .services)
    case "remindOfToken": self = .remindOfToken(isUnreported: false)
    case "reportMissing": self = .remindOfToken(isUnreported: true)
    case "test": self = .test
    case "endSale", "resumeSale":
      _ = try value("product", product)
      self = .setForSale(name == "resumeSale")
    case "behave": self = .behave(try Behaviour(&fields, from: Behaviour()))
    case "send":
      let type = try value("type", fields.text("type"))
      let subtype = try fields.text("subtype")
      let kind = SampleKind(NotificationTypeV2(rawValue: type), subtype.map { Subtype(rawValue: $0) })
      guard SampleKind.all.contains(kind) else {
        throw fields.error(
          "type", "expected one of Apple's notification types with a subtype that is valid for it",
          nearestTo: kind.description, among: SampleKind.all.map(\.description))
      }
      self = .send(kind)
    default:
      throw fields.error("do", "no such action")
    }
  }

  /// The names of the actions in scenario files.
  static let names = [
    "purchase", "renew", "failToRenew", "recover", "expire", "cancel", "resume", "resubscribe", "share", "changePlan",
    "redeemOffer", "announcePriceIncrease", "acceptPriceIncrease", "requestRefund", "refund", "declineRefund",
    "reverseRefund", "revoke", "extendRenewal", "massExtend", "failExtension", "migrate", "updateMetadata",
    "changePrice", "rescindConsent", "createToken", "remindOfToken", "reportMissing", "test", "endSale", "resumeSale",
    "behave", "send",
  ]

  private static let intents: [(name: String, value: ExpirationIntent)] = [
    ("cancelled", .customerCancelled), ("billing", .billingError),
    ("priceIncrease", .customerDidNotConsentToPriceIncrease), ("notForSale", .productNotAvailable), ("other", .other),
  ]
}
