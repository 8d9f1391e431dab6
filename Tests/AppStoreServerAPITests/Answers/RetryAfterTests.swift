import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreServerAPI

@Suite struct RetryAfterTests {
  /// 2026-01-01T00:00:00Z.
  private static let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  @Test(arguments: [
    // Apple's form: UNIX time in milliseconds.
    ("1767225660000", 60_000), ("1767225600001", 1), ("1767312000000", 86_400_000),
    // Seconds since 1970.
    ("1767225660", 60_000), ("1767312000", 86_400_000),
    // Seconds from now.
    ("0", 0), ("1", 1_000), ("120", 120_000), ("86400", 86_400_000), ("  30\t", 30_000), ("007", 7_000),
    // Times in the past mean now.
    ("1767225599999", 0), ("1767225000", 0), ("1000000000", 0), ("100000000000", 0),
    ("Wed, 31 Dec 2025 23:00:00 GMT", 0),
    // HTTP dates in all three forms.
    ("Thu, 01 Jan 2026 00:05:00 GMT", 300_000), ("Thursday, 01-Jan-26 00:05:00 GMT", 300_000),
    ("Thu Jan  1 00:05:00 2026", 300_000), ("thu, 01 jan 2026 00:05:00 gmt", 300_000),
  ])
  func `a time is read in every form`(value: String, expected: Int64) {
    #expect(RetryAfter.parse(value, now: Self.now) == Self.now + .milliseconds(expected))
  }

  @Test(arguments: [
    "", " ", "soon", "-5", "+5", "1.5", "5s", "1e3", "0x10", "１２０", "NaN", "null",
    // Implausibly far ahead.
    "1767312000001", "1767312001", "86401", "999999999", "1767225660000000", "9223372036854775807",
    "99999999999999999999999999",
    // Invalid dates.
    "Thu, 01 Jan 2026 00:05:00", "Thu, 01 Jan 2026 24:00:00 GMT", "Thu, 01 Foo 2026 00:05:00 GMT",
    "Thu, 32 Jan 2026 00:05:00 GMT", "Thu, 01 Jan 2026 00:05 GMT", "Thu, 01 Jan 2026 00:05:00 CET",
    "2026-01-01T00:05:00Z", "Fri, 02 Jan 2026 00:00:01 GMT",
  ])
  func `anything else is not a time`(value: String) {
    #expect(RetryAfter.parse(value, now: Self.now) == nil)
  }

  @Test(
    arguments: [
      ("0", 0), ("90", 90), (" 90\t", 90), ("86400", 21_600), ("86401", 21_600), ("1767225660", 21_600),
      ("99999999999999999999999999", 21_600), ("Thu, 01 Jan 2026 00:05:00 GMT", 300),
      ("Wed, 31 Dec 2025 23:00:00 GMT", 0), ("Fri, 02 Jan 2026 00:00:01 GMT", 21_600), ("", nil), (" ", nil),
      ("soon", nil), ("-1", nil), ("1.5", nil), ("2026-01-01T00:05:00Z", nil),
    ] as [(String, Int64?)])
  func `a server other than Apple's sends seconds or a date, and longer delays are cut to six hours`(
    value: String, seconds: Int64?
  ) {
    #expect(RetryAfter.standard(value, now: Self.now) == seconds.map { Self.now + .seconds($0) })
  }

  @Test func `a time is always between now and the horizon`() {
    let seed: UInt64 = 20_260_101
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("0123456789 ,:-GMTJanThu.".utf8)
    for _ in 0..<20_000 {
      let length = Int.random(in: 0...30, using: &generator)
      let bytes = (0..<length).compactMap { _ in alphabet.randomElement(using: &generator) }
      let text = String(decoding: bytes, as: UTF8.self)
      guard let moment = RetryAfter.parse(text, now: Self.now) else { continue }
      #expect(moment >= Self.now && moment <= Self.now + RetryAfter.horizon, "\(text), seed \(seed)")
    }
  }
}
