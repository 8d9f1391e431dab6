// What App Store Connect knows: apps, their products and offers, the keys of their API.

public import AppStore

/// A key for the API that a team made in App Store Connect.
public struct APICredentials: Sendable, Hashable {
  /// `iss` of tokens.
  public var issuerId: String
  /// `kid` of tokens.
  public var keyId: String
  /// The public half of the key, P-256, PEM. A private key's PEM is not taken: the simulator needs none.
  public var publicKeyPEM: String

  /// A key of that issuer.
  public init(issuerId: String, keyId: String, publicKeyPEM: String) {
    self.issuerId = issuerId
    self.keyId = keyId
    self.publicKeyPEM = publicKeyPEM
  }
}

/// An offer of an auto-renewable subscription, or an offer code of another product.
public struct Offer: Sendable, Hashable {
  /// `offerIdentifier`; unique in its product.
  public var identifier: String
  /// Introductory, promotional, offer code or win-back.
  public var type: OfferType
  /// How it is paid.
  public var discountType: OfferDiscountType
  /// How long its price holds; one period of it.
  public var period: SubscriptionPeriod
  /// Milliunits; 0 for a trial.
  public var price: Int64

  /// An offer.
  public init(
    identifier: String, type: OfferType, discountType: OfferDiscountType, period: SubscriptionPeriod, price: Int64
  ) {
    self.identifier = identifier
    self.type = type
    self.discountType = discountType
    self.period = period
    self.price = price
  }

  /// Whether the customer pays nothing.
  public var isFree: Bool { discountType == .freeTrial || price == 0 }
}

/// Something that customers buy.
public struct Product: Sendable, Hashable {
  /// Unique in its app.
  public var productId: String
  /// One of Apple's four.
  public var type: ProductType
  /// `subscriptionGroupIdentifier`; of auto-renewable subscriptions.
  public var group: String?
  /// The rank in its group: 1 is the highest, as in App Store Connect.
  public var level: Int
  /// The length of a period; of auto-renewable subscriptions.
  public var period: SubscriptionPeriod
  /// Milliunits of the currency.
  public var price: Int64
  /// ISO 4217.
  public var currency: String
  /// The billing grace period; nil where the team has none.
  public var gracePeriod: Duration?
  /// Offers by their identifiers.
  public var offers: [Offer]

  /// A product; the defaults are a monthly subscription's.
  public init(
    productId: String, type: ProductType = .autoRenewableSubscription, group: String? = "21345678", level: Int = 1,
    period: SubscriptionPeriod = SubscriptionPeriod(1, .month), price: Int64 = 9_990, currency: String = "USD",
    gracePeriod: Duration? = nil, offers: [Offer] = []
  ) {
    self.productId = productId
    self.type = type
    self.group = group
    self.level = level
    self.period = period
    self.price = price
    self.currency = currency
    self.gracePeriod = gracePeriod
    self.offers = offers
  }

  /// Whether it renews.
  public var isSubscription: Bool { type == .autoRenewableSubscription }
}

/// An app of the team.
public struct SimulatedApp: Sendable, Hashable {
  /// The bundle identifier.
  public var bundleId: String
  /// The Apple ID of the app.
  public var appAppleId: Int64
  /// Where it is sold.
  public var environments: [AppStoreEnvironment]
  /// The keys that may call the API.
  public var credentials: [APICredentials]
  /// The shared secret of version 1 notifications, as text; a rehearsal's, never a real one.
  public var sharedSecret: String?
  /// `bundleVersion`.
  public var version: String
  /// What it sells.
  public var products: [Product]

  /// An app.
  public init(
    bundleId: String, appAppleId: Int64, environments: [AppStoreEnvironment] = [.production, .sandbox],
    credentials: [APICredentials] = [], sharedSecret: String? = nil, version: String = "421", products: [Product] = []
  ) {
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environments = environments
    self.credentials = credentials
    self.sharedSecret = sharedSecret
    self.version = version
    self.products = products
  }
}
