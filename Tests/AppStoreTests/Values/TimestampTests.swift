import AppStore
import Foundation
import Testing

struct TimestampTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (1_698_148_900_000, "2023-10-24T12:01:40.000Z"),
    (951_782_400_123, "2000-02-29T00:00:00.123Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (253_402_300_800_000, "9999-12-31T23:59:59.999Z"),
    (Int64.max, "9999-12-31T23:59:59.999Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
    (Int64.min, "0000-01-01T00:00:00.000Z"),
  ])
  func aMomentReadsAsRFC3339(milliseconds: Int64, text: String) {
    #expect(Timestamp(millisecondsSince1970: milliseconds).rfc3339 == text)
  }

  @Test func everyDayOfEightCenturiesHasItsDate() {
    // An independent calendar, one day at a time from 1600-01-01.
    var (year, month, day) = (1600, 1, 1)
    var milliseconds: Int64 = -11_676_096_000_000
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    while year < 2400 {
      let expected = "\(year)-\(two(month))-\(two(day))T00:00:00.000Z"
      guard Timestamp(millisecondsSince1970: milliseconds).rfc3339 == expected else {
        Issue.record("\(milliseconds) should be \(expected)")
        return
      }
      let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let length = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
      (day, month) = day < length ? (day + 1, month) : (1, month + 1)
      if month > 12 { (year, month) = (year + 1, 1) }
      milliseconds += 86_400_000
    }
  }

  @Test func durationsMoveAMomentAndNeverOverflow() {
    let moment = Timestamp(millisecondsSince1970: 1000)
    #expect((moment + .seconds(2)).millisecondsSince1970 == 3000)
    #expect((moment - .milliseconds(1500)).millisecondsSince1970 == -500)
    #expect((moment + .microseconds(1999)).millisecondsSince1970 == 1001)
    #expect((moment + .seconds(-1)).millisecondsSince1970 == 0)
    #expect((moment + .seconds(Int64.max)).millisecondsSince1970 == .max)
    #expect((moment - .seconds(Int64.max)).millisecondsSince1970 == -Int64.max + 1000)
    #expect((Timestamp(millisecondsSince1970: -5) - .seconds(Int64.max)).millisecondsSince1970 == .min)
    #expect((Timestamp(millisecondsSince1970: -5) + .seconds(Int64.min)).millisecondsSince1970 == .min)
    #expect((Timestamp(millisecondsSince1970: 5) - .seconds(Int64.min)).millisecondsSince1970 == .max)
    #expect(Timestamp(millisecondsSince1970: .max) - Timestamp(millisecondsSince1970: .min) > .zero)
    #expect(moment - Timestamp(millisecondsSince1970: 4000) == .seconds(-3))
    #expect(moment < Timestamp(millisecondsSince1970: 1001))
  }

  @Test(
    arguments: [
      ("1698148900000", 1_698_148_900_000), ("1697679936711.0747", 1_697_679_936_711), ("-1.9", -1), ("1e3", 1000),
      ("1e400", nil), ("1e30", nil), ("\"1698148900000\"", nil), ("null", nil), ("true", nil),
    ] as [(String, Int64?)])
  func aNumberOfMillisecondsIsAMomentAndAFractionIsCutOff(text: String, milliseconds: Int64?) throws {
    #expect(try Timestamp(jsonValue: JSON(parsing: Array(text.utf8)))?.millisecondsSince1970 == milliseconds)
  }

  @Test func aMomentPassesThroughFoundation() throws {
    let moments = [Timestamp(millisecondsSince1970: 1_698_148_900_001), Timestamp(millisecondsSince1970: -1)]
    let data = try JSONEncoder().encode(moments)
    #expect(String(decoding: data, as: UTF8.self) == "[1698148900001,-1]")
    #expect(try JSONDecoder().decode([Timestamp].self, from: data) == moments)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([Timestamp].self, from: Data("[\"1\"]".utf8)) }
  }
}
