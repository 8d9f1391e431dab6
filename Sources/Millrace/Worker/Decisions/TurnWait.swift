// How long a record may wait for its turn at Apple inside its lane. See
// docs/adr/0018-who-is-sent-away-comes-back-spread.md.

/// The longest wait of one run of a handler.
enum TurnWait {
  /// A record whose turn is further away leaves the lane.
  static let usual = Duration.seconds(5)
  /// The longest where being sent away would cost more; a call has some time left after it.
  static let longest = Duration.seconds(15)

  /// - Parameters:
  ///   - isReturning: Whether the record comes from a retry tier: sent away again, it would be gone for the shortest of
  ///     them at least.
  ///   - shortestDelay: The delay of the shortest tier.
  ///   - left: Until the record's deadline; nil: it has none. Where no tier ends before it, the record stays.
  static func limit(isReturning: Bool, shortestDelay: Duration, left: Duration?) -> Duration {
    let limit = isReturning ? min(max(usual, shortestDelay), longest) : usual
    guard let left, left < limit + shortestDelay else { return limit }
    return max(.zero, left)
  }
}
