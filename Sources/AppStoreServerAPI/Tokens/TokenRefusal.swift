// A 401 says nothing but no. What can be said is said here: what was tried, and whether the clocks agree.

internal import AppStore

/// Why Apple may have refused two tokens in a row (App Store Server API, error 401).
public struct TokenRefusal: Sendable, Hashable {
  /// What to look at.
  public enum Suspect: String, Sendable, Hashable, CaseIterable {
    /// Our clock: `iat` lies in Apple's future, or `exp` in its past.
    case clock
    /// The key: revoked, of another kind than In-App Purchase, or not the one that `keyId` names.
    case key
    /// The issuer: not the one of the team that owns the key.
    case issuer
    /// The bundle: not an app of that team, or, in production, one that was never approved.
    case bundle
  }

  /// The keys that were tried, in order.
  public let keyIds: [String]
  /// The app.
  public let bundleId: String
  /// How far our clock is ahead of the one of the answer's `Date`; negative when it is behind; nil without a `Date`.
  public let clockAhead: Duration?

  /// What to look at, the likeliest first.
  public var suspects: [Suspect] {
    guard let clockAhead, !Self.tolerated.contains(clockAhead) else { return [.key, .issuer, .bundle] }
    return [.clock, .key, .issuer, .bundle]
  }

  /// Tokens are backdated by a minute and live twenty; `Date` is exact to the second.
  private static let tolerated = Duration.seconds(-60)...(APIToken.backdating - .seconds(1))

  init(keyIds: [String], bundleId: String, date: String?, now: Timestamp) {
    self.keyIds = keyIds
    self.bundleId = bundleId
    clockAhead = date.flatMap { HTTPDate.parse($0, now: now) }.map { now - $0 }
  }

  /// What to do, in one clause.
  var advice: String {
    let keys = keyIds.count == 1 ? "key \(keyIds[0])" : "keys " + keyIds.joined(separator: ", ")
    let rest =
      "check in App Store Connect that \(keys) exists, is an In-App Purchase key and belongs to the issuer given, and "
      + "that \(bundleId) is an app of that team; in production the app must have been approved once"
    guard let clockAhead, suspects.first == .clock else { return rest }
    let seconds = abs(clockAhead.components.seconds)
    return "our clock is \(seconds) s \(clockAhead < .zero ? "behind" : "ahead of") Apple's, set it first; then \(rest)"
  }
}
