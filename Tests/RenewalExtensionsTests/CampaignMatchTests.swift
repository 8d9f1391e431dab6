import AppStore
import AppStoreSigning
import Testing

@testable import RenewalExtensions

@Suite struct CampaignMatchTests {
  private static let second = "2f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11"

  @Test func `a match distinguishes none, one and several campaigns`() {
    let first = Campaign.sample()
    let other = Campaign.sample(Self.second, at: Campaign.origin + .seconds(30))
    #expect(CampaignTable([]).match(.sample()) == .none)
    #expect(CampaignTable([.campaign(first)]).match(.sample()) == .one(first))
    #expect(CampaignTable([.campaign(other), .campaign(first)]).match(.sample()) == .several([first, other]))
  }

  @Test func `another app, environment, product or storefront is another campaign`() {
    let others = [
      Campaign.sample(bundleId: "com.example.other"), .sample(environment: .sandbox), .sample(product: "yearly"),
      .sample(storefronts: ["DEU", "AUT"]), .sample(state: .refused),
    ]
    for campaign in others { #expect(!campaign.fits(.sample()), "\(campaign)") }
    #expect(Campaign.sample(storefronts: ["DEU", "USA"]).fits(.sample()))
    #expect(Campaign.sample(storefronts: ["DEU"]).fits(.sample(storefront: nil)), "the storefront is unknown")
  }

  @Test func `the window runs from five minutes before the request to an hour after completion`() {
    var campaign = Campaign.sample()
    let start = Campaign.origin
    func isOpen(_ offset: Duration) -> Bool { campaign.isOpen(at: start + offset) }
    #expect(!isOpen(.seconds(-301)) && isOpen(.seconds(-300)))
    #expect(isOpen(.seconds(30 * 86_400)), "Apple is still processing it")
    campaign.completion = .init(at: start + .seconds(86_400), succeeded: 1, failed: 1)
    #expect(isOpen(.seconds(90_000)) && !isOpen(.seconds(90_001)))
    for state in [Campaign.State.requested, .unclear] {
      campaign.state = state
      #expect(isOpen(.zero), "Apple may have it")
    }
  }

  @Test func `campaigns overlap if a failure could belong to either`() {
    var first = Campaign.sample()
    let later = Campaign.sample(Self.second, at: Campaign.origin + .seconds(86_400))
    #expect(first.overlaps(later) && later.overlaps(first) && !first.overlaps(first))
    first.completion = .init(at: Campaign.origin + .seconds(3_600), succeeded: 0, failed: 0)
    #expect(!first.overlaps(later) && !later.overlaps(first))
    first.completion?.at = later.requestedAt - .seconds(3_900)
    #expect(first.overlaps(later) && later.overlaps(first))
    let germany = Campaign.sample(storefronts: ["DEU"])
    #expect(!germany.overlaps(.sample(Self.second, storefronts: ["AUT"])))
    #expect(germany.overlaps(.sample(Self.second, storefronts: ["AUT", "DEU"])))
    #expect(germany.overlaps(.sample(Self.second)))
  }

  /// Two campaigns overlap if and only if a failure can be ambiguous. The test computes this independently of the code.
  @Test(arguments: UInt64(1)...40) func `a match is unique only if no other campaign fits`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let products = ["monthly", "yearly"]
    let countries = ["DEU", "AUT", "USA"]
    var records: [CampaignRecord] = []
    var campaigns: [Campaign] = []
    for _ in 0..<Int.random(in: 0...6, using: &generator) {
      let lands = countries.filter { _ in Bool.random(using: &generator) }
      var campaign = Campaign.sample(
        generator.uuid(), environment: Bool.random(using: &generator) ? .production : .sandbox,
        product: products.randomElement(using: &generator) ?? "", storefronts: lands.isEmpty ? nil : lands,
        at: Campaign.origin + .seconds(Int64.random(in: 0...10_000, using: &generator)),
        state: Campaign.State.allCases.randomElement(using: &generator) ?? .accepted)
      records.append(.campaign(campaign))
      if Bool.random(using: &generator) {
        let end = campaign.requestedAt + .seconds(Int64.random(in: 0...5_000, using: &generator))
        campaign.completion = .init(at: end, succeeded: 0, failed: 0)
        records.append(.completion(campaign: campaign.id, .init(at: end, succeeded: 0, failed: 0)))
      }
      campaigns.append(campaign)
    }
    records.shuffle(using: &generator)
    let table = CampaignTable(records)
    for _ in 0..<50 {
      let milliseconds = Int64.random(in: -400_000...20_000_000, using: &generator)
      let subject = ExtensionSubject(
        originalTransactionId: "1", bundleId: "com.example.app",
        environment: Bool.random(using: &generator) ? .production : .sandbox,
        productId: products.randomElement(using: &generator) ?? "",
        storefront: countries.randomElement(using: &generator),
        signedDate: Campaign.origin + .milliseconds(milliseconds))
      let moment = subject.signedDate.millisecondsSince1970
      let expected = campaigns.filter { campaign in
        let begin = campaign.requestedAt.millisecondsSince1970 - 300_000
        let end = campaign.completion.map { $0.at.millisecondsSince1970 + 3_600_000 } ?? .max
        return campaign.state != .refused && campaign.environment == subject.environment
          && campaign.productId == subject.productId && begin <= moment && moment <= end
          && (campaign.storefronts == nil
            || subject.storefront.map { campaign.storefronts?.contains($0) ?? true } == true)
      }
      switch table.match(subject) {
      case .none: #expect(expected.isEmpty, "seed \(seed)")
      case .one(let campaign): #expect(expected == [campaign], "seed \(seed)")
      case .several(let several): #expect(several.count > 1 && Set(several) == Set(expected), "seed \(seed)")
      }
    }
    // Campaigns that do not overlap never fit the same failure.
    for (index, first) in campaigns.enumerated() {
      for other in campaigns[(index + 1)...] where !first.overlaps(other) {
        for offset in stride(from: Int64(-400), through: 16_000, by: 100) {
          for country in countries {
            let subject = ExtensionSubject(
              originalTransactionId: "1", bundleId: "com.example.app", environment: first.environment,
              productId: first.productId, storefront: country,
              signedDate: Campaign.origin + .seconds(offset))
            #expect(!(first.fits(subject) && other.fits(subject)), "seed \(seed)")
          }
        }
      }
    }
  }
}

extension CampaignTable {
  /// Returns the campaigns that a notification may be about.
  fileprivate func match(_ subject: ExtensionSubject) -> CampaignMatch {
    CampaignMatch(campaigns.filter { $0.fits(subject) })
  }
}
