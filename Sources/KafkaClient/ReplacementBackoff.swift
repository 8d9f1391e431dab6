/// The pauses before replacing a producer's client after a fatal error: none at first, then longer after each quick
/// failure.
struct ReplacementBackoff {
  /// The first pause, before a replacement within ``calm`` of another.
  static let first = Duration.milliseconds(100)
  /// The longest pause.
  static let longest = Duration.seconds(10)
  /// The lifetime of a client after which the next replacement has no pause.
  static let calm = Duration.seconds(60)

  private var last: ContinuousClock.Instant?
  private var pause = Duration.zero

  /// Returns when to create the next client; nil: now.
  mutating func next(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    if let last, last.duration(to: now) < Self.calm {
      pause = pause == .zero ? Self.first : min(Self.longest, pause * 2)
    } else {
      pause = .zero
    }
    last = now + pause
    return pause == .zero ? nil : now + pause
  }
}
