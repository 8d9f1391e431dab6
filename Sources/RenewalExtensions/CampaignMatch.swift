// Matches notifications to campaigns. Apple does not name the campaign, so the match uses app, environment, product,
// storefront and signing time. If no campaign or several match, an operator must decide.

package import AppStore

/// The subscription in a notification about an extension.
package struct ExtensionSubject: Sendable, Hashable {
  /// The subscription.
  package var originalTransactionId: String
  /// The app.
  package var bundleId: String
  /// Production or sandbox.
  package var environment: AppStoreEnvironment
  /// The product of the subscription.
  package var productId: String
  /// The customer's storefront; nil if the transaction has none.
  package var storefront: String?
  /// When Apple signed the notification.
  package var signedDate: Timestamp

  /// Creates a subject.
  package init(
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

/// The campaigns in the topic that a notification may be about.
package enum CampaignMatch: Sendable, Hashable {
  /// No campaign matches.
  case none
  /// One campaign matches.
  case one(Campaign)
  /// Several campaigns match, in order of their start.
  case several([Campaign])
}

extension Campaign {
  /// Whether a notification about the subscription may be about this campaign.
  package func fits(_ subject: ExtensionSubject) -> Bool { isAbout(subject) && isOpen(at: subject.signedDate) }

  /// Whether the campaign matches without regard to its window, which is what an operator's decision requires.
  ///
  /// A transaction without a storefront matches campaigns for any storefronts.
  func isAbout(_ subject: ExtensionSubject) -> Bool {
    guard bundleId == subject.bundleId, environment == subject.environment, productId == subject.productId else {
      return false
    }
    guard let storefronts, let storefront = subject.storefront else { return true }
    return storefronts.contains(storefront)
  }
}

extension CampaignMatch {
  init(_ fitting: [Campaign]) {
    switch fitting.count {
    case 0: self = .none
    case 1: self = .one(fitting[0])
    default: self = .several(fitting)
    }
  }
}

/// The campaigns that match a notification, checked against Apple's status of each.
struct ConfirmedMatch: Sendable {
  /// The campaigns that Apple had when the notification was signed.
  private(set) var fitting: [Campaign] = []
  /// The campaigns that Apple does not have.
  private(set) var absent: [String] = []
  /// The campaigns whose status is unknown, with the reason.
  private(set) var undetermined: [(campaign: String, why: String)] = []
  /// The records of Apple's responses to write.
  private(set) var records: [CampaignRecord] = []

  /// Adds a campaign that needs no status from Apple.
  mutating func add(_ campaign: Campaign) { fitting.append(campaign) }

  /// Adds a campaign with Apple's response.
  mutating func add(_ campaign: Campaign, _ answer: CampaignAnswer, about subject: ExtensionSubject) {
    var campaign = campaign
    switch answer.status {
    case .inProgress:
      campaign.seenAt = answer.at
      records.append(.status(campaign: campaign.id, inProgressAt: answer.at))
      fitting.append(campaign)
    case .complete(let completion):
      campaign.completion = completion
      records.append(.completion(campaign: campaign.id, completion))
      if campaign.fits(subject) { fitting.append(campaign) }
    case .notFound: absent.append(campaign.id)
    case .undetermined(let why): undetermined.append((campaign.id, why))
    }
  }
}

extension CampaignMatch {
  /// The words of a dead letter by which the failures of an unknown campaign are found again.
  package static func absence(of productId: String, in environment: AppStoreEnvironment) -> String {
    "no campaign for \(productId) in \(environment) was in progress"
  }
}
