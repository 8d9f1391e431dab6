// Limits how long a record may wait in its lane for a rate-limit slot. See
// docs/adr/0018-who-is-sent-away-comes-back-spread.md.

/// The longest wait of one handler run.
enum RateLimitWaitLimit {
  /// A record whose slot is further away leaves the lane.
  static let usual = Duration.seconds(5)
  /// The longest wait if leaving the lane would cost more. A call still has some time left after it.
  static let longest = Duration.seconds(15)

  /// - Parameters:
  ///   - isReturning: Whether the record comes from a retry topic. If it left again, it would be gone for at least the
  ///     shortest retry delay.
  ///   - shortestDelay: The shortest retry delay.
  ///   - left: The time until the record's deadline; nil if it has none. If no retry topic ends before the deadline,
  ///     the record stays.
  static func limit(isReturning: Bool, shortestDelay: Duration, left: Duration?) -> Duration {
    let limit = isReturning ? min(max(usual, shortestDelay), longest) : usual
    guard let left, left < limit + shortestDelay else { return limit }
    return max(.zero, left)
  }
}
