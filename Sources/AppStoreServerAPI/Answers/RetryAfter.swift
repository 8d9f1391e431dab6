// Parses `Retry-After`. Apple sends a UNIX time in milliseconds, unlike HTTP; the CDNs and gateways in front of it use
// the HTTP formats, as endpoints and receivers of the deployment do.

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
    let text = trimmed(value)
    let moment: Timestamp? =
      if isNumber(text) {
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

  /// The longest delay that a server of the deployment's own can ask for.
  package static let longestDelay = Duration.seconds(6 * 3_600)

  /// Returns the earliest time for the next request to a server other than Apple's, between `now` and ``longestDelay``
  /// after it; nil if the value is neither a whole number of seconds nor an HTTP date.
  package static func standard(_ value: String, now: Timestamp) -> Timestamp? {
    let text = trimmed(value)
    let latest = now + longestDelay
    if isNumber(text) {
      guard !text.isEmpty else { return nil }
      // A number that does not fit is a long delay too.
      return Int64(text).flatMap { $0 < 1 << 32 ? min(now + .seconds($0), latest) : nil } ?? latest
    }
    return HTTPDate.parse(text, now: now).map { min(max($0, now), latest) }
  }

  private static func trimmed(_ value: String) -> String {
    String(value.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
  }

  private static func isNumber(_ text: String) -> Bool { text.utf8.allSatisfy { (48...57).contains($0) } }
}
