// The data of App Store Connect: apps, their products and offers, and their API keys.

package import AppStore

/// An API key that a team created in App Store Connect.
package struct PublicAPIKey: Sendable, Hashable {
  /// `iss` of tokens.
  package var issuerId: String
  /// `kid` of tokens.
  package var keyId: String
  /// The public key: P-256, PEM. A private key is rejected, because the simulator does not need one.
  package var publicKeyPEM: String

  /// A key with its issuer.
  package init(issuerId: String, keyId: String, publicKeyPEM: String) {
    self.issuerId = issuerId
    self.keyId = keyId
    self.publicKeyPEM = publicKeyPEM
  }
}

/// An offer for an auto-renewable subscription, or an offer code for another product.
package struct Offer: Sendable, Hashable {
  /// `offerIdentifier`; unique within its product.
  package var identifier: String
  /// The type: introductory, promotional, offer code or win-back.
  package var type: OfferType
  /// The payment mode.
  package var discountType: OfferDiscountType
  /// The length of the offer, which is a single period.
  package var period: SubscriptionPeriod
  /// The price in milliunits of the currency; 0 for a free trial.
  package var price: Int64

  /// An offer.
  package init(
    identifier: String, type: OfferType, discountType: OfferDiscountType, period: SubscriptionPeriod, price: Int64
  ) {
    self.identifier = identifier
    self.type = type
    self.discountType = discountType
    self.period = period
    self.price = price
  }

  /// Whether the customer pays nothing.
  package var isFree: Bool { discountType == .freeTrial || price == 0 }

  /// Whether a customer prefers the offer to another one: it costs less, or lasts longer at the same price.
  func isBetter(than other: Offer) -> Bool {
    let start = Timestamp(millisecondsSince1970: 0)
    let (mine, theirs) = (period.end(from: start), other.period.end(from: start))
    return (price, theirs, identifier) < (other.price, mine, other.identifier)
  }
}

/// A product that customers buy.
package struct Product: Sendable, Hashable {
  /// The product identifier; unique within its app.
  package var productId: String
  /// One of Apple's four product types.
  package var type: ProductType
  /// `subscriptionGroupIdentifier`; only for auto-renewable subscriptions.
  package var group: String?
  /// The level within its group. 1 is the highest, as in App Store Connect.
  package var level: Int
  /// The length of a period; only for auto-renewable subscriptions.
  package var period: SubscriptionPeriod
  /// The price in milliunits of the currency.
  package var price: Int64
  /// The currency, an ISO 4217 code.
  package var currency: String
  /// The billing grace period; nil if the team has not enabled it.
  package var gracePeriod: Duration?
  /// The number of periods in a commitment, each billed at ``price``; nil for a product without commitment.
  package var commitment: Int64?
  /// Offers by their identifiers.
  package var offers: [Offer]

  /// A product. The defaults describe a monthly subscription.
  package init(
    productId: String, type: ProductType = .autoRenewableSubscription, group: String? = "21345678", level: Int = 1,
    period: SubscriptionPeriod = SubscriptionPeriod(1, .month), price: Int64 = 9_990, currency: String = "USD",
    gracePeriod: Duration? = nil, commitment: Int64? = nil, offers: [Offer] = []
  ) {
    self.productId = productId
    self.type = type
    self.group = group
    self.level = level
    self.period = period
    self.price = price
    self.currency = currency
    self.gracePeriod = gracePeriod
    self.commitment = commitment
    self.offers = offers
  }

  /// Whether the product is an auto-renewable subscription.
  package var isSubscription: Bool { type == .autoRenewableSubscription }

  /// Whether a change to another plan of the group takes effect immediately (App Store Server Notifications, `subtype`):
  /// an upgrade, or a cross-grade to the same duration.
  func changesImmediately(to other: Product) -> Bool {
    other.level < level || (other.level == level && other.period == period)
  }
}

/// An app of the team.
package struct SimulatedApp: Sendable, Hashable {
  /// The bundle identifier.
  package var bundleId: String
  /// The Apple ID of the app.
  package var appAppleId: Int64
  /// The environments in which the app is available.
  package var environments: [AppStoreEnvironment]
  /// The keys that can call the API for this app.
  package var credentials: [PublicAPIKey]
  /// The shared secret for version 1 notifications, as text. Use a secret made for rehearsals, never a real one.
  package var sharedSecret: String?
  /// `bundleVersion`.
  package var version: String
  /// The products of the app.
  package var products: [Product]

  /// An app.
  package init(
    bundleId: String, appAppleId: Int64, environments: [AppStoreEnvironment] = [.production, .sandbox],
    credentials: [PublicAPIKey] = [], sharedSecret: String? = nil, version: String = "421", products: [Product] = []
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
