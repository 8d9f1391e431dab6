import AppStore
import Millrace
import Testing

@testable import RenewalExtensions

@Suite struct OwnExtensionTests {
  private static let end = Campaign.origin + .seconds(40 * 86_400)
  private static let signed = Campaign.origin + .seconds(10 * 86_400)

  /// Whether it is ours: of a campaign that is over since, or is not, long before the notification was signed.
  private static func explains(_ standing: EffectStanding, isOver: Bool = true) -> Bool {
    var campaign = Campaign.sample()
    if isOver { campaign.completion = .init(at: Campaign.origin + .seconds(60), succeeded: 1, failed: 1) }
    return OwnExtension.explains(.sample(at: signed), until: end, campaign, standing)
  }

  private static func ended(_ answer: ExtensionAnswer) -> EffectStanding { .ended(answer.bytes) }

  @Test func `in its campaign's window whatever was tried again is ours`() {
    for standing in [
      EffectStanding.open(since: Self.signed), Self.ended(.applied(effectiveDate: Self.end)), Self.ended(.unclear("x")),
    ] { #expect(Self.explains(standing, isOver: false)) }
  }

  @Test func `after it the end of the period tells`() {
    #expect(Self.explains(Self.ended(.applied(effectiveDate: Self.end))))
    #expect(!Self.explains(Self.ended(.applied(effectiveDate: Self.end + .seconds(86_400)))))
    #expect(Self.explains(Self.ended(.applied(effectiveDate: nil))), "found extended, and its date not known")
    #expect(!Self.explains(Self.ended(.refused(.init(.ineligible, code: 1, message: nil)))))
    #expect(!Self.explains(Self.ended(.unclear("x"))))
  }

  @Test func `Apple's word may come before its answer, and not before the call`() {
    #expect(Self.explains(.open(since: Self.signed - .seconds(5))))
    #expect(Self.explains(.open(since: Self.signed + .seconds(5))), "the clocks of two companies")
    #expect(!Self.explains(.open(since: Self.signed + .seconds(3_600))))
  }
}
