// Which campaign a notification is about. Apple names neither: app, environment, product, storefront and the moment of
// signing are all there is. One that fits is the one; of none or several a person has to say which.

public import AppStore

/// A subscription that a notification about an extension names.
public struct ExtensionSubject: Sendable, Hashable {
  /// The subscription.
  public var originalTransactionId: String
  /// The app.
  public var bundleId: String
  /// Production or sandbox.
  public var environment: AppStoreEnvironment
  /// What is subscribed to.
  public var productId: String
  /// The customer's; nil where the transaction names none.
  public var storefront: String?
  /// When Apple signed the notification.
  public var signedDate: Timestamp

  /// A subject.
  public init(
    originalTransactionId: String, bundleId: String, environment: AppStoreEnvironment, productId: String,
    storefront: String?, signedDate: Timestamp
  ) {
    self.originalTransactionId = originalTransactionId
    self.bundleId = bundleId
    self.environment = environment
    self.productId = productId
    self.storefront = storefront
    self.signedDate = signedDate
  }
}

/// The campaigns that a notification may be about.
public enum CampaignMatch: Sendable, Hashable {
  /// No campaign fits.
  case none
  /// One fits.
  case one(Campaign)
  /// Several fit; the one that was started first at the beginning.
  case several([Campaign])
}

extension Campaign {
  /// Whether a notification about that subscription may be about this campaign.
  public func fits(_ subject: ExtensionSubject) -> Bool { isAbout(subject) && isOpen(at: subject.signedDate) }

  /// The same without the window: what an operator's word can still say.
  ///
  /// A transaction without a storefront fits every campaign: it may be one of the campaign's.
  public func isAbout(_ subject: ExtensionSubject) -> Bool {
    guard bundleId == subject.bundleId, environment == subject.environment, productId == subject.productId else {
      return false
    }
    guard let storefronts, let storefront = subject.storefront else { return true }
    return storefronts.contains(storefront)
  }
}

extension CampaignTable {
  /// The campaigns that a notification may be about.
  public func match(_ subject: ExtensionSubject) -> CampaignMatch {
    let fitting = campaigns.filter { $0.fits(subject) }
    guard let first = fitting.first else { return .none }
    return fitting.count == 1 ? .one(first) : .several(fitting)
  }
}
