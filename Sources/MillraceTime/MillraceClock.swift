// The clock of a process: wall time, monotonic time and timers. Code that waits or reads the time takes it as a value,
// so that tests can control time and rehearsals can compress it.

public import AppStore

/// The wall time and the timers of a process.
///
/// As a `Clock` it is monotonic: ``now`` never goes back, and ``sleep(until:tolerance:)`` follows it. ``wallTime`` is
/// the calendar time. Kafka's own time limits always use real time.
public struct MillraceClock: Clock, Sendable {
  /// A point in monotonic time. It can be compared only with instants of the same clock.
  public struct Instant: InstantProtocol, Sendable {
    /// The time since the clock's start.
    public var elapsed: Duration

    /// Creates the instant that is `elapsed` after the clock's start.
    public init(elapsed: Duration) { self.elapsed = elapsed }

    /// Returns the instant that is `duration` later.
    public func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }
    /// Returns the time from this instant to `other`; negative if `other` is earlier.
    public func duration(to other: Instant) -> Duration { other.elapsed - elapsed }
    /// Whether the left instant is earlier.
    public static func < (left: Instant, right: Instant) -> Bool { left.elapsed < right.elapsed }
  }

  private let readWallTime: @Sendable () -> Timestamp
  private let readElapsed: @Sendable () -> Duration
  private let sleepUntil: @Sendable (Duration) async throws -> Void
  /// Whether this is the simulated time of a rehearsal, which `clock` configures, and not real time. Records then carry
  /// it in a header, because their timestamps stay real.
  public let isSimulated: Bool
  /// How many times as fast as real time the clock runs.
  public let rate: Double

  /// Creates a clock from functions.
  ///
  /// - Parameters:
  ///   - wallTime: Returns the calendar time.
  ///   - elapsed: Returns the monotonic time since the clock's start.
  ///   - isSimulated: Whether ``wallTime`` differs from Kafka's time.
  ///   - rate: How many times as fast as real time the clock runs.
  ///   - sleepUntil: Returns when `elapsed` has reached its argument; throws `CancellationError` if cancelled.
  public init(
    wallTime: @escaping @Sendable () -> Timestamp, elapsed: @escaping @Sendable () -> Duration,
    isSimulated: Bool = false, rate: Double = 1, sleepUntil: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.readWallTime = wallTime
    self.readElapsed = elapsed
    self.isSimulated = isSimulated
    self.rate = rate
    self.sleepUntil = sleepUntil
  }

  /// The calendar time, to the millisecond.
  public var wallTime: Timestamp { readWallTime() }
  /// The system's time, even if ``wallTime`` is simulated. Use it for values that other systems check against their own
  /// clocks, such as tokens and signed requests.
  public var realTime: Timestamp { isSimulated ? Self.systemTime() : readWallTime() }
  /// The current monotonic time.
  public var now: Instant { Instant(elapsed: readElapsed()) }
  /// One nanosecond. In practice, the rate and the system's timers make it coarser.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Returns at `deadline`, or at once if it has passed.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try await sleepUntil(deadline.elapsed)
  }
}

extension MillraceClock {
  /// Real time.
  public static let system = MillraceClock(origin: nil, rate: 1)

  /// Creates a clock that starts at `origin` and runs `rate` times as fast as real time.
  ///
  /// - Parameters:
  ///   - origin: The initial ``wallTime``; nil means the system's time.
  ///   - rate: The speed; greater than 0.
  ///   - start: The real time at which ``wallTime`` shows `origin`, so that processes that start at different times
  ///     share one simulated time; nil means now.
  public init(origin: Timestamp?, rate: Double, start realStart: Timestamp? = nil) {
    let real = ContinuousClock()
    let start = real.now
    let present = Self.systemTime()
    let begin = (origin ?? present) + (realStart.map { present - $0 } ?? .zero) * rate
    let isReal = origin == nil && rate == 1 && realStart == nil
    let elapsed: @Sendable () -> Duration = {
      let passed = start.duration(to: real.now)
      return rate == 1 ? passed : passed * rate
    }
    self.init(
      // Real wall time is read each time, so that it follows NTP corrections. A sum of monotonic time would not.
      wallTime: { isReal ? Self.systemTime() : begin + elapsed() },
      elapsed: elapsed, isSimulated: !isReal, rate: rate,
      sleepUntil: { deadline in
        let real = ContinuousClock()
        try await real.sleep(until: start.advanced(by: rate == 1 ? deadline : deadline / rate))
      })
  }
}
