// Apple's Retry-After is not the one of HTTP: a UNIX time in milliseconds. Edges and gateways in front of it speak HTTP.

public import AppStore

/// The header field `Retry-After` (App Store Server API, *Identifying rate limits*; RFC 9110, section 10.2.3).
public enum RetryAfter {
  /// What is further ahead than this is not believed: Apple's limits are those of an hour, and a value in a unit that
  /// nobody thought of must not silence a worker for years.
  public static let horizon = Duration.seconds(86_400)

  /// When the next request may be sent: never before `now`, at most ``horizon`` later; nil for what is no such time.
  ///
  /// Whole numbers are told apart by size: below 1 000 000 000 seconds from now, below 100 000 000 000 a UNIX time in
  /// seconds, above it a UNIX time in milliseconds. Anything else is read as an HTTP date.
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
