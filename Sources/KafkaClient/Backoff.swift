/// The pauses between attempts that fail: each is twice as long as the one before, up to a limit.
package struct Backoff: Sendable, Hashable {
  private let first: Duration
  private let longest: Duration

  /// The pause that ``next()`` has returned; zero if it has returned none since the beginning or ``reset()``.
  package private(set) var last = Duration.zero

  package init(from first: Duration, upTo longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// Returns the pause before the next attempt.
  @discardableResult
  package mutating func next() -> Duration {
    last = last == .zero ? first : min(last * 2, longest)
    return last
  }

  /// Begins again with the first pause, after a success.
  package mutating func reset() { last = .zero }
}
