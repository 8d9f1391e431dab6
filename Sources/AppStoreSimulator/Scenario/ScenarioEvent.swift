// Something that a scenario lets happen: what, to whom, when and how often.

public import AppStore
public import AppStoreSigning

/// What happens.
public enum ScenarioAction: Sendable, Hashable {
  /// New customers come and buy the event's product.
  case purchase(offer: String?)
  /// The next renewal takes place at once.
  case renew
  /// Billing refuses the renewal: the present period ends after that time, and at once without a grace period.
  case failToRenew(left: Duration)
  /// A failed renewal succeeds.
  case recover
  /// The subscription ends.
  case expire(ExpirationIntent)
  /// The customer switches renewal off, or on again.
  case setRenewal(isOn: Bool)
  /// A customer whose subscription has ended takes it again, or another of its group.
  case resubscribe(to: String?)
  /// A family member gets what the customer bought.
  case share
  /// The customer changes the plan.
  case changePlan(to: String)
  /// The customer redeems an offer of a product.
  case redeemOffer(String, of: String)
  /// The App Store tells of a higher price.
  case announcePriceIncrease(to: Int64, needsConsent: Bool)
  /// The customer agrees to it.
  case acceptPriceIncrease
  /// The customer asks for a refund; Apple decides as the settings of the API say.
  case requestRefund(ConsumptionRequestReason)
  /// Apple pays back at once.
  case refund(percentage: Int64)
  /// Apple declines a refund that was asked for.
  case declineRefund
  /// Apple takes a refund back.
  case reverseRefund
  /// The family shares no longer.
  case revoke
  /// The renewal date moves.
  case extendRenewal(days: Int)
  /// The team asks for a mass extension of the event's product, as its call would.
  case massExtend(days: Int, reasonCode: Int64)
  /// A mass extension fails for the subscription.
  case failExtension
  /// The subscription becomes Advanced Commerce's.
  case migrate
  /// Its metadata changes.
  case updateMetadata
  /// Its price changes.
  case changePrice(to: Int64)
  /// A parent withdraws consent.
  case rescindConsent
  /// An app asks for a token for external purchases.
  case createToken(ExternalPurchaseTokenType)
  /// Apple reminds of the oldest token.
  case remindOfToken(isUnreported: Bool)
  /// The team asks for a test.
  case test
  /// The event's product is taken off sale, or sold again.
  case setForSale(Bool)
  /// Customers and banks behave otherwise for the time of the event.
  case behave(Behaviour)
  /// A notification of that type and subtype about a customer made for it.
  case send(SampleKind)

  /// The product that it names besides the event's.
  var productId: String? {
    switch self {
    case .changePlan(let product), .redeemOffer(_, let product): product
    case .resubscribe(let product): product
    default: nil
    }
  }
}

/// An event.
public struct ScenarioEvent: Sendable, Hashable {
  /// How often it happens.
  public enum Count: Sendable, Hashable {
    /// So many times.
    case times(Int)
    /// For that part of the customers, 0 to 1.
    case share(Double)
  }

  /// Whom it concerns.
  public struct Target: Sendable, Hashable {
    /// The app; nil: the scenario's first.
    public var bundleId: String?
    /// The environment; nil: the app's first.
    public var environment: AppStoreEnvironment?
    /// Only purchases of this product; nil: of any.
    public var productId: String?
    /// Only customers of these storefronts; nil: of any.
    public var storefronts: [String]?

    /// Anybody.
    public init() {}
  }

  /// The name of the action, for reports.
  public var name: String
  /// What happens.
  public var action: ScenarioAction
  /// When it begins, from the scenario's beginning.
  public var after: Duration
  /// Over how long it is spread.
  public var spread: Duration
  /// How often.
  public var count: Count
  /// To whom.
  public var target: Target

  /// An event.
  public init(
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
  /// Reads an event as a scenario file or a control request writes it.
  init(_ fields: inout Fields) throws(ScenarioError) {
    let name = try fields.required("do", fields.text("do"))
    let after = try fields.duration("after") ?? .zero
    let spread = try fields.duration("for") ?? .zero
    let share = try fields.share("share")
    let times = try fields.integer("count", in: 1...100_000_000)
    if share != nil, times != nil { throw fields.error("share", "count or share is expected, not both") }
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
      throw fields.error("do", "no such action, docs/simulator.md lists them", nearestTo: name, among: Self.names)
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
        to: try value("price", fields.integer("price")), needsConsent: try fields.flag("needsConsent") ?? true)
    case "acceptPriceIncrease": self = .acceptPriceIncrease
    case "requestRefund":
      let reasons = ConsumptionRequestReason.allKnown.map { ($0.rawValue, $0) }
      self = .requestRefund(try fields.value(of: "reason", among: reasons) ?? .unintendedPurchase)
    case "refund":
      self = .refund(percentage: try fields.integer("percentage", in: 1...100).map { $0 * 1_000 } ?? 100_000)
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
    case "changePrice": self = .changePrice(to: try value("price", fields.integer("price")))
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
          "type", "a type of Apple's with a subtype that it can have is expected",
          nearestTo: kind.description, among: SampleKind.all.map(\.description))
      }
      self = .send(kind)
    default:
      throw fields.error("do", "no such action")
    }
  }

  /// The actions as a scenario names them.
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
