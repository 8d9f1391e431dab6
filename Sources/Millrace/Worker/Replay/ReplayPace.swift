// How fast records are sent again. Pure: time is a parameter.

package import Clocks

/// Spreads records over time: after each batch the next one waits until the rate allows it. Nothing is saved up while it
/// pauses.
package struct ReplayPace: Sendable, Hashable {
  private var next: MillraceClock.Instant?

  package init() {}

  /// Most records of one batch at a rate: about a second's worth, so that a stop is heard within a second.
  package static func batch(at rate: Double?, limit: Int) -> Int {
    rate.map { min(limit, max(1, Int($0))) } ?? limit
  }

  /// When the next batch may be sent; nil: now.
  package func due(now: MillraceClock.Instant) -> MillraceClock.Instant? { next.flatMap { $0 > now ? $0 : nil } }

  /// So many records were sent.
  package mutating func sent(_ count: Int, at rate: Double?, now: MillraceClock.Instant) {
    guard let rate, rate > 0 else { return next = nil }
    next = max(next ?? now, now).advanced(by: .seconds(Double(count) / rate))
  }
}
