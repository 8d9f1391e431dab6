import AppStoreSigning
import Testing

@testable import AppStore

@Suite struct TimestampRFC3339Tests {
  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2026-01-31T12:00:00Z", 1_769_860_800_000),
      ("2026-01-31T12:00:00.5Z", 1_769_860_800_500), ("2026-01-31T12:00:00.123456789z", 1_769_860_800_123),
      ("2026-01-31t13:30:00+01:30", 1_769_860_800_000), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
      ("1969-12-31T23:00:00-01:00", nil), ("1970-01-01T00:00:00-00:00", 0),
      ("9999-12-31T23:59:59Z", 253_402_300_799_000),
    ] as [(String, Int64?)])
  func `a time is read to the millisecond`(text: String, expected: Int64?) {
    #expect(Timestamp(rfc3339: text)?.millisecondsSince1970 == expected)
  }

  @Test(arguments: [
    "", "2026-01-31", "2026-01-31 12:00:00Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-31T24:00:00Z",
    "2026-01-31T12:00:00", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00+1:00", "2026-01-31T12:00:00Zx",
    "１970-01-01T00:00:00Z",
  ])
  func `other text is not a time`(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test func `a written time is read back`() {
    let seed: UInt64 = 20_260_131
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<1_000 {
      let moment = Timestamp(millisecondsSince1970: .random(in: 0...253_402_300_799_999, using: &generator))
      #expect(Timestamp(rfc3339: moment.rfc3339) == moment, "seed \(seed)")
    }
  }
}
