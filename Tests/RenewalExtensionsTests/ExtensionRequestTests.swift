import AppStore
import AppStoreSigning
import Testing

@testable import RenewalExtensions

@Suite struct ExtensionRequestTests {
  private static let campaign = "1f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11"

  @Test func `an identifier is stable, unique per extension, and never too long`() {
    for seed in UInt64(1)...20 {
      var generator = SeededGenerator(seed: seed)
      var seen: [String: [String]] = [:]
      for _ in 0..<200 {
        let campaign = generator.uuid()
        let length = Int.random(in: 1...300, using: &generator)
        let original = String((0..<length).map { _ in "0123456789".randomElement(using: &generator) ?? "0" })
        let identifier = ExtensionRequest.identifier(campaign: campaign, originalTransactionId: original)
        #expect(identifier == ExtensionRequest.identifier(campaign: campaign, originalTransactionId: original))
        #expect((1...128).contains(identifier.utf16.count), "seed \(seed)")
        let earlier = seen.updateValue([campaign, original], forKey: identifier)
        #expect(earlier == nil || earlier == [campaign, original], "seed \(seed)")
      }
    }
  }

  @Test func `an identifier contains campaign and subscription if there is room`() {
    let identifier = ExtensionRequest.identifier(campaign: Self.campaign, originalTransactionId: "2000000123456789")
    #expect(identifier == "\(Self.campaign).2000000123456789")
  }

  @Test func `the body follows Apple's rules and is unchanged by the ledger`() throws {
    let campaign = Campaign.sample()
    let body = ExtensionRequest.body(campaign, originalTransactionId: "2000000123456789")
    #expect(body.violations().isEmpty)
    #expect(body.extendByDays == campaign.days && body.extendReasonCode == campaign.reason)
    #expect(
      ExtendRenewalDateRequest(json: try JSONObject(parsing: body.serialized())).serialized() == body.serialized())
  }

  @Test func `the effect's name fits the ledger and begins with its campaign`() {
    let name = ExtensionRequest.effect(campaign: Self.campaign, originalTransactionId: "2000000123456789")
    #expect(name == "extend/\(Self.campaign)/2000000123456789")
    #expect(name.hasPrefix(ExtensionRequest.effects(of: Self.campaign)))
  }
}
