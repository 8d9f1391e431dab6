// The data of App Store Connect: apps, their products and offers, and their API keys.

public import AppStore

/// An API key that a team created in App Store Connect.
public struct APICredentials: Sendable, Hashable {
  /// `iss` of tokens.
  public var issuerId: String
  /// `kid` of tokens.
  public var keyId: String
  /// The public key: P-256, PEM. A private key is rejected, because the simulator does not need one.
  public var publicKeyPEM: String

  /// A key with its issuer.
  public init(issuerId: String, keyId: String, publicKeyPEM: String) {
    self.issuerId = issuerId
    self.keyId = keyId
    self.publicKeyPEM = publicKeyPEM
  }
}

/// An offer for an auto-renewable subscription, or an offer code for another product.
public struct Offer: Sendable, Hashable {
  /// `offerIdentifier`; unique within its product.
  public var identifier: String
  /// The type: introductory, promotional, offer code or win-back.
  public var type: OfferType
  /// The payment mode.
  public var discountType: OfferDiscountType
  /// The length of the offer, which is a single period.
  public var period: SubscriptionPeriod
  /// The price in milliunits of the currency; 0 for a free trial.
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

/// A product that customers buy.
public struct Product: Sendable, Hashable {
  /// The product identifier; unique within its app.
  public var productId: String
  /// One of Apple's four product types.
  public var type: ProductType
  /// `subscriptionGroupIdentifier`; only for auto-renewable subscriptions.
  public var group: String?
  /// The level within its group. 1 is the highest, as in App Store Connect.
  public var level: Int
  /// The length of a period; only for auto-renewable subscriptions.
  public var period: SubscriptionPeriod
  /// The price in milliunits of the currency.
  public var price: Int64
  /// The currency, an ISO 4217 code.
  public var currency: String
  /// The billing grace period; nil if the team has not enabled it.
  public var gracePeriod: Duration?
  /// Offers by their identifiers.
  public var offers: [Offer]

  /// A product. The defaults describe a monthly subscription.
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

  /// Whether the product is an auto-renewable subscription.
  public var isSubscription: Bool { type == .autoRenewableSubscription }
}

/// An app of the team.
public struct SimulatedApp: Sendable, Hashable {
  /// The bundle identifier.
  public var bundleId: String
  /// The Apple ID of the app.
  public var appAppleId: Int64
  /// The environments in which the app is available.
  public var environments: [AppStoreEnvironment]
  /// The keys that can call the API for this app.
  public var credentials: [APICredentials]
  /// The shared secret for version 1 notifications, as text. Use a secret made for rehearsals, never a real one.
  public var sharedSecret: String?
  /// `bundleVersion`.
  public var version: String
  /// The products of the app.
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
