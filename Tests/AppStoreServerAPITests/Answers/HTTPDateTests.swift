import AppStore
import Testing

@testable import AppStoreServerAPI

@Suite struct HTTPDateTests {
  private static let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  /// The example of RFC 9110, section 5.6.7, in its three forms, and the limits of the calendar.
  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
    ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Friday, 01-Jan-75 00:00:00 GMT", 3_313_526_400),
    ("Thursday, 01-Jan-77 00:00:00 GMT", 220_924_800),
  ])
  func `all forms of a date are read`(text: String, seconds: Int64) {
    #expect(HTTPDate.parse(text, now: Self.now)?.millisecondsSince1970 == seconds * 1000)
  }
}
