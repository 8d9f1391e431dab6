// Apple's 401 gives no reason. This type records the keys that were tried and whether the clocks agree.

internal import AppStore

/// The possible reasons that Apple rejected two tokens in a row (App Store Server API, error 401).
public struct TokenRefusal: Sendable, Hashable {
  /// A possible cause.
  public enum Suspect: String, Sendable, Hashable, CaseIterable {
    /// The local clock: `iat` is in the future of Apple's clock, or `exp` is in its past.
    case clock
    /// The key: it was revoked, is not an In-App Purchase key, or does not belong to `keyId`.
    case key
    /// The issuer: it does not belong to the team that owns the key.
    case issuer
    /// The bundle: it is not an app of that team or, in production, was never approved.
    case bundle
  }

  /// The IDs of the keys that were tried, in order.
  public let keyIds: [String]
  /// The bundle identifier of the app.
  public let bundleId: String
  /// The time by which the local clock is ahead of the response's `Date`; negative if it is behind; nil without a
  /// `Date`.
  public let clockAhead: Duration?

  /// The possible causes, most likely first.
  public var suspects: [Suspect] {
    guard let clockAhead, !Self.tolerated.contains(clockAhead) else { return [.key, .issuer, .bundle] }
    return [.clock, .key, .issuer, .bundle]
  }

  /// Tokens are backdated by one minute and live for twenty. `Date` has a precision of one second.
  private static let tolerated = Duration.seconds(-60)...(APIToken.backdating - .seconds(1))

  init(keyIds: [String], bundleId: String, date: String?, now: Timestamp) {
    self.keyIds = keyIds
    self.bundleId = bundleId
    clockAhead = date.flatMap { HTTPDate.parse($0, now: now) }.map { now - $0 }
  }

  /// The remedy, in one clause.
  var advice: String {
    let keys = keyIds.count == 1 ? "key \(keyIds[0])" : "keys " + keyIds.joined(separator: ", ")
    let rest =
      "check in App Store Connect that \(keys) exists, is an In-App Purchase key and belongs to the given issuer, and "
      + "that \(bundleId) is an app of that team; production answers 401 until the app's first release is approved"
    guard let clockAhead, suspects.first == .clock else { return rest }
    let seconds = abs(clockAhead.components.seconds)
    return "the local clock is \(seconds) s \(clockAhead < .zero ? "behind" : "ahead of") Apple's; fix it, then \(rest)"
  }
}
