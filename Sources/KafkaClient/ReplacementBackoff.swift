/// The pauses before replacing a producer's client after a fatal error: none at first, then longer after each quick
/// failure.
struct ReplacementBackoff {
  /// The lifetime of a client after which the next replacement has no pause.
  static let calm = Duration.seconds(60)

  private var last: ContinuousClock.Instant?
  private var backoff = Backoff(from: .milliseconds(100), upTo: .seconds(10))

  /// Returns when to create the next client; nil: now.
  mutating func next(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard let last, last.duration(to: now) < Self.calm else {
      backoff.reset()
      last = now
      return nil
    }
    let due = now + backoff.next()
    self.last = due
    return due
  }
}
