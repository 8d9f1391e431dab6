// Decides when requests may be sent. It is a value without a clock or waiting. It uses the virtual scheduling of the
// generic cell rate algorithm (ITU-T I.371). Every request advances the schedule by one interval. A request may come
// before its scheduled time by at most a tolerance.
//
// The bound: consider n requests in a half-open window of length W. At the last one, the schedule is at least (n - 1)
// intervals after the window's start and less than the tolerance after its end: (n - 1) × interval < W + tolerance.
// With an interval of (hour + tolerance) / cap, no hour contains more than `cap` requests, including the burst. If the
// tolerance is burst - 1 intervals, the interval is hour / (cap - burst + 1).

public import MillraceTime

/// The request rate of one app at one endpoint in one environment.
///
/// Requests are spread evenly. After an idle time, up to one second's worth of requests may be sent at once; the
/// remaining unused slots are lost. Below one request per second, an early request may follow a late one, so late
/// timers cost nothing. No hour, at whatever time it starts, contains more than 3 600 times the rate.
public struct RateBudget: Sendable, Hashable {
  /// The interval between requests and the tolerance.
  struct Pace: Sendable, Hashable {
    let interval: Duration
    let tolerance: Duration

    /// The pace for a rate in requests per second; nil if the rate is zero or invalid.
    init?(perSecond rate: Double) {
      guard rate > 0, rate.isFinite else { return nil }
      let rate = min(rate, Self.fastest)
      // Rounding must not reduce a rate that is a whole number of requests per hour or per second.
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

    /// Far above Apple's limits, and low enough for nanosecond intervals.
    private static let fastest = 1_000_000.0

    /// Rounds up, so that rounding never makes a pace faster. The maximum is a hundred years.
    private static func nanoseconds(_ seconds: Double) -> Duration {
      .nanoseconds(Int64(min(seconds * 1e9, 3e18).rounded(.up)))
    }
  }

  private var pace: Pace?
  /// The current position of the schedule; nil before the first request.
  private var schedule: MillraceClock.Instant?
  private var pausedUntil: MillraceClock.Instant?

  /// Creates an unused budget.
  ///
  /// - Parameter perSecond: The rate in requests per second. With zero or less, there are no slots.
  public init(perSecond: Double) { pace = Pace(perSecond: perSecond) }

  /// The interval between slots; nil if the rate is zero.
  var interval: Duration? { pace?.interval }

  /// Changes the rate from now on. Earlier requests still count.
  public mutating func setRate(perSecond: Double) { pace = Pace(perSecond: perSecond) }

  /// Grants no slots before `moment` and spreads later ones evenly, without a burst. Never shortens a pause.
  public mutating func pause(until moment: MillraceClock.Instant) {
    pausedUntil = max(pausedUntil ?? moment, moment)
  }

  /// Returns the time at which a request with `waiting` others ahead of it may be sent; nil if the rate is zero.
  public func turn(behind waiting: Int = 0, at now: MillraceClock.Instant) -> MillraceClock.Instant? {
    guard let pace else { return nil }
    let place = base(pace, now).advanced(by: pace.interval * waiting)
    return max(now, pausedUntil ?? now, place.advanced(by: .zero - pace.tolerance))
  }

  /// Takes a slot if one is due. Returns whether it did.
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
