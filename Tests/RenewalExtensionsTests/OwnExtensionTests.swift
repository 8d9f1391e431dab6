import AppStore
import MillraceWorker
import Testing

@testable import RenewalExtensions

@Suite struct OwnExtensionTests {
  private static let end = Campaign.origin + .seconds(40 * 86_400)
  private static let signed = Campaign.origin + .seconds(10 * 86_400)

  /// Whether the retry explains the extension. It was long before the signature, in a campaign that is over or still
  /// open.
  private static func explains(_ status: EffectStatus, isOver: Bool = true) -> Bool {
    var campaign = Campaign.sample()
    if isOver { campaign.completion = .init(at: Campaign.origin + .seconds(60), succeeded: 1, failed: 1) }
    return OwnExtension.explains(.sample(at: signed), until: end, campaign, status)
  }

  private static func ended(_ answer: ExtensionAnswer) -> EffectStatus { .ended(answer.bytes) }

  @Test func `within its campaign's window every retry explains an extension`() {
    for status in [
      EffectStatus.open(since: Self.signed), Self.ended(.applied(effectiveDate: Self.end)), Self.ended(.unclear("x")),
    ] { #expect(Self.explains(status, isOver: false)) }
  }

  @Test func `after the window the end of the period decides`() {
    #expect(Self.explains(Self.ended(.applied(effectiveDate: Self.end))))
    #expect(!Self.explains(Self.ended(.applied(effectiveDate: Self.end + .seconds(86_400)))))
    #expect(Self.explains(Self.ended(.applied(effectiveDate: nil))), "found to be extended, with an unknown date")
    #expect(!Self.explains(Self.ended(.refused(.init(.ineligible, code: 1, message: nil)))))
    #expect(!Self.explains(Self.ended(.unclear("x"))))
  }

  @Test func `a notification may arrive before the call's response, but not before the call`() {
    #expect(Self.explains(.open(since: Self.signed - .seconds(5))))
    #expect(Self.explains(.open(since: Self.signed + .seconds(5))), "the clocks of Apple and of the worker differ")
    #expect(!Self.explains(.open(since: Self.signed + .seconds(3_600))))
  }
}
