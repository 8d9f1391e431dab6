// Who may call when, as a value: no clock, no waiting. The virtual schedule of the generic cell rate algorithm (ITU-T
// I.371): every request moves the schedule one interval on, and may come no earlier than a tolerance before its place.
//
// The bound. Of requests in a half-open window of length W, the last one finds the schedule at least (n - 1) intervals
// after the window's start and less than the tolerance after its end: (n - 1) × interval < W + tolerance. With an
// interval of (hour + tolerance) / cap no hour whatever holds more than `cap`, the burst included. Where the tolerance is
// that of a burst, burst - 1 intervals, this is an interval of hour / (cap - burst + 1).

public import Clocks

/// The turns of one app at one endpoint in one environment.
///
/// Requests are spread evenly; after a pause up to one second's worth may come at once, and what an idle time left unused
/// is lost. Below one request a second a late request may be followed by an early one, so that timers that fire late
/// cost nothing. No hour, wherever it starts, holds more than 3 600 times the rate.
public struct RateBudget: Sendable, Hashable {
  /// How fast.
  struct Pace: Sendable, Hashable {
    let interval: Duration
    let tolerance: Duration

    /// The pace of that many requests a second; nil when there are none to give.
    init?(perSecond rate: Double) {
      guard rate > 0, rate.isFinite else { return nil }
      let rate = min(rate, Self.fastest)
      // A rate that is a whole number of requests an hour, or a second, must not lose one to rounding.
      let cap = (3600 * rate + 1e-6).rounded(.down)
      let burst = (rate + 1e-9).rounded(.down)
      if burst >= 2 {
        interval = Self.nanoseconds(3600 / (cap - burst + 1))
        tolerance = interval * (Int(burst) - 1)
      } else {
        let even = 1 / rate
        let lateness = min(1, even / 2)
        interval = Self.nanoseconds(cap >= 1 ? (3600 + lateness) / cap : even)
        tolerance = .nanoseconds(Int64(lateness * 1e9))
      }
    }

    /// Beyond anything that Apple allows, and far within what nanoseconds can tell apart.
    private static let fastest = 1_000_000.0

    /// Rounded up, so that rounding never makes a pace faster; at most a hundred years.
    private static func nanoseconds(_ seconds: Double) -> Duration {
      .nanoseconds(Int64(min(seconds * 1e9, 3e18).rounded(.up)))
    }
  }

  private var pace: Pace?
  /// Where the schedule has come to; nil before the first request.
  private var schedule: MillraceClock.Instant?
  private var pausedUntil: MillraceClock.Instant?

  /// A budget of that many requests a second, nothing used yet.
  ///
  /// - Parameter perSecond: At 0 or below nobody gets a turn.
  public init(perSecond: Double) { pace = Pace(perSecond: perSecond) }

  /// How far turns are apart; nil when there is no rate.
  var interval: Duration? { pace?.interval }

  /// Changes the rate from now on; what was used stays used.
  public mutating func setRate(perSecond: Double) { pace = Pace(perSecond: perSecond) }

  /// Gives no turn before `moment`; afterwards turns are spread evenly, without a burst. Never shortens a pause.
  public mutating func pause(until moment: MillraceClock.Instant) {
    pausedUntil = max(pausedUntil ?? moment, moment)
  }

  /// When the request that has `waiting` others before it may be sent; nil when there is no rate.
  public func turn(behind waiting: Int = 0, at now: MillraceClock.Instant) -> MillraceClock.Instant? {
    guard let pace else { return nil }
    let place = base(pace, now).advanced(by: pace.interval * waiting)
    return max(now, pausedUntil ?? now, place.advanced(by: .zero - pace.tolerance))
  }

  /// Takes a turn if there is one now.
  public mutating func take(at now: MillraceClock.Instant) -> Bool {
    guard let pace, let turn = turn(at: now), turn <= now else { return false }
    schedule = base(pace, now).advanced(by: pace.interval)
    return true
  }

  private func base(_ pace: Pace, _ now: MillraceClock.Instant) -> MillraceClock.Instant {
    let afterPause = pausedUntil?.advanced(by: pace.tolerance) ?? now
    return max(now, schedule ?? now, afterPause)
  }
}
