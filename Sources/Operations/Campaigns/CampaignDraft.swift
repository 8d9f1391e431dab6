// The flags of `millrace campaigns start`, checked before anything is written or called.

package import AppStore
package import RenewalExtensions

/// The flags of a campaign.
package struct CampaignDraft: Sendable, Hashable {
  /// `--product`
  package var product: String
  /// `--days`
  package var days: Int
  /// `--reason`
  package var reason: Int
  /// `--storefront`; empty for all.
  package var storefronts: [String]

  /// Creates a draft from flags.
  package init(product: String, days: Int, reason: Int, storefronts: [String]) {
    self.product = product
    self.days = days
    self.reason = reason
    self.storefronts = storefronts
  }

  /// The campaign that the flags describe.
  /// - Throws: ``OperationError`` that names the invalid flag.
  package func campaign(
    id: String, bundleId: String, environment: AppStoreEnvironment, at time: Timestamp, by author: String
  ) throws(OperationError) -> Campaign {
    var seen: Set<String> = []
    let storefronts = storefronts.map { $0.uppercased() }.filter { seen.insert($0).inserted }
    let campaign = Campaign(
      id: id, bundleId: bundleId, environment: environment, productId: product, days: days,
      reason: ExtendReasonCode(rawValue: reason), storefronts: storefronts.isEmpty ? nil : storefronts,
      requestedAt: time, by: author)
    guard let violation = campaign.request.violations().first else { return campaign }
    throw OperationError(
      .usage, "\(violation.rule.rawValue), \(violation.found)", at: Self.flags[violation.field] ?? violation.field,
      remedy: "see \(violation.page)")
  }

  private static let flags = [
    "productId": "--product", "extendByDays": "--days", "extendReasonCode": "--reason",
    "storefrontCountryCodes": "--storefront",
  ]
}

/// Text for the numbers and states of a campaign.
package enum CampaignWords {
  /// The meaning of an `extendReasonCode`.
  package static func reason(_ code: ExtendReasonCode) -> String {
    switch code {
    case .undeclared: "undeclared"
    case .customerSatisfaction: "customer satisfaction"
    case .other: "other"
    case .serviceIssueOrOutage: "service issue or outage"
    default: "code \(code.rawValue)"
    }
  }

  /// The request to Apple on one line.
  package static func terms(_ campaign: Campaign) -> String {
    let storefronts = campaign.storefronts.map { "storefronts \($0.joined(separator: ", "))" } ?? "all storefronts"
    let days = HumanText.count(campaign.days, "day")
    return "\(days), reason \(campaign.reason.rawValue) (\(reason(campaign.reason))), \(storefronts)"
  }

  /// The state of a campaign.
  package static func state(_ campaign: Campaign) -> String {
    if campaign.cancellation != nil { return "\(phase(campaign)), retries cancelled" }
    return phase(campaign)
  }

  private static func phase(_ campaign: Campaign) -> String {
    campaign.completion == nil ? campaign.state.rawValue : "completed"
  }
}
