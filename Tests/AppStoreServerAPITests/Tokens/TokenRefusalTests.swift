import AppStore
import Testing

@testable import AppStoreServerAPI

@Suite struct TokenRefusalTests {
  /// 2026-01-01T00:00:00Z.
  private let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  private func refusal(date: String?) -> TokenRefusal {
    TokenRefusal(keyIds: ["KEY0", "KEY1"], bundleId: "com.example.app", date: date, now: now)
  }

  @Test(arguments: [
    nil, "Thu, 01 Jan 2026 00:00:00 GMT", "Wed, 31 Dec 2025 23:59:01 GMT", "Thu, 01 Jan 2026 00:01:00 GMT", "garbage",
  ])
  func `if the clocks agree, the suspects are key, issuer and bundle`(date: String?) {
    #expect(refusal(date: date).suspects == [.key, .issuer, .bundle])
  }

  @Test(arguments: [
    ("Wed, 31 Dec 2025 23:58:00 GMT", 120, "the local clock is 120 s ahead of Apple's"),
    ("Thu, 01 Jan 2026 00:30:00 GMT", -1800, "the local clock is 1800 s behind Apple's"),
  ])
  func `a wrong clock is the first suspect, with the difference`(date: String, ahead: Int, words: String) {
    let refusal = refusal(date: date)
    #expect(refusal.suspects.first == .clock)
    #expect(refusal.clockAhead == .seconds(ahead))
    #expect(refusal.advice.contains(words))
  }

  @Test func `the advice names keys and bundle`() {
    let advice = refusal(date: nil).advice
    for word in ["KEY0", "KEY1", "issuer", "com.example.app", "approved"] { #expect(advice.contains(word), "\(word)") }
  }
}
