// Limits the rate of a replay. Pure: time is a parameter.

package import MillraceTime

/// Spreads records over time: each batch waits until the rate allows it. A pause accumulates no credit.
package struct ReplayPace: Sendable, Hashable {
  private var next: MillraceClock.Instant?

  package init() {}

  /// Returns the maximum size of a batch at a rate: about a second's worth, so that a stop takes effect quickly.
  package static func batch(at rate: Double?, limit: Int) -> Int {
    rate.map { min(limit, max(1, Int($0))) } ?? limit
  }

  /// Returns when the next batch may be sent, or nil if it may be sent now.
  package func due(now: MillraceClock.Instant) -> MillraceClock.Instant? { next.flatMap { $0 > now ? $0 : nil } }

  /// Counts records that were sent.
  package mutating func sent(_ count: Int, at rate: Double?, now: MillraceClock.Instant) {
    guard let rate, rate > 0 else { return next = nil }
    next = max(next ?? now, now).advanced(by: .seconds(Double(count) / rate))
  }
}
