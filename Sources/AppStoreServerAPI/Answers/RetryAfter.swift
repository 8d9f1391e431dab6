// Parses `Retry-After`. Apple sends a UNIX time in milliseconds, unlike HTTP; the CDNs and gateways in front of it use
// the HTTP formats.

public import AppStore

/// The header field `Retry-After` (App Store Server API, *Identifying rate limits*; RFC 9110, section 10.2.3).
public enum RetryAfter {
  /// Times further ahead are ignored. Apple's limits apply per hour, and a value in an unexpected unit must not stop a
  /// worker for years.
  public static let horizon = Duration.seconds(86_400)

  /// Returns the earliest time for the next request, between `now` and ``horizon`` after it; nil if the value is not
  /// such a time.
  ///
  /// Whole numbers are distinguished by size. Any other value is parsed as an HTTP date.
  ///
  /// - below 1 000 000 000: seconds from now
  /// - below 100 000 000 000: a UNIX time in seconds
  /// - above that: a UNIX time in milliseconds
  public static func parse(_ value: String, now: Timestamp) -> Timestamp? {
    let text = String(value.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    let moment: Timestamp? =
      if text.utf8.allSatisfy({ (48...57).contains($0) }) {
        Int64(text).map { number in
          switch number {
          case ..<1_000_000_000: now + .seconds(number)
          case ..<100_000_000_000: Timestamp(millisecondsSince1970: number * 1000)
          default: Timestamp(millisecondsSince1970: number)
          }
        }
      } else {
        HTTPDate.parse(text, now: now)
      }
    guard let moment, moment <= now + horizon else { return nil }
    return max(moment, now)
  }
}
