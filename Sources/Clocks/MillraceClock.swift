// The one clock of a process: wall time, monotonic time and timers. Everything that waits or stamps takes it as a value,
// so that tests turn time by hand and rehearsals compress it.

public import AppStore

/// Wall time and timers of a process.
///
/// As a `Clock` it is monotonic: ``now`` never goes back and ``sleep(until:tolerance:)`` follows it. ``wallTime`` is what
/// the calendar says. Kafka's own time limits are real whatever this clock does.
public struct MillraceClock: Clock, Sendable {
  /// A moment of monotonic time; comparable only with others of the same clock.
  public struct Instant: InstantProtocol, Sendable {
    /// Time since the clock's own beginning.
    public var elapsed: Duration

    /// The moment `elapsed` after the clock's beginning.
    public init(elapsed: Duration) { self.elapsed = elapsed }

    /// The moment `duration` later.
    public func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }
    /// From this moment to `other`; negative when `other` is earlier.
    public func duration(to other: Instant) -> Duration { other.elapsed - elapsed }
    /// Earlier before later.
    public static func < (left: Instant, right: Instant) -> Bool { left.elapsed < right.elapsed }
  }

  private let readWallTime: @Sendable () -> Timestamp
  private let readElapsed: @Sendable () -> Duration
  private let sleepUntil: @Sendable (Duration) async throws -> Void

  /// A clock of any making.
  ///
  /// - Parameters:
  ///   - wallTime: What the calendar says.
  ///   - elapsed: Monotonic time since the clock's beginning.
  ///   - sleepUntil: Returns when `elapsed` has reached its argument; throws `CancellationError` when cancelled.
  public init(
    wallTime: @escaping @Sendable () -> Timestamp, elapsed: @escaping @Sendable () -> Duration,
    sleepUntil: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.readWallTime = wallTime
    self.readElapsed = elapsed
    self.sleepUntil = sleepUntil
  }

  /// What the calendar says, to the millisecond.
  public var wallTime: Timestamp { readWallTime() }
  /// Monotonic now.
  public var now: Instant { Instant(elapsed: readElapsed()) }
  /// A nanosecond; rates and the system's timers make it coarser in practice.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Returns at `deadline`, at once when it has passed.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try await sleepUntil(deadline.elapsed)
  }
}

extension MillraceClock {
  /// Real time.
  public static let system = MillraceClock(origin: nil, rate: 1)

  /// Time that starts at `origin` now and passes `rate` times as fast as the real one.
  ///
  /// - Parameters:
  ///   - origin: What ``wallTime`` shows at first; nil: what the system's clock shows.
  ///   - rate: Above 0.
  ///   - start: The real moment at which ``wallTime`` shows `origin`, so that processes which start at different moments
  ///     live in one time; nil: now.
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
      // Real wall time is asked anew each time: it follows the corrections of NTP, a sum of monotonic time would not.
      wallTime: { isReal ? Self.systemTime() : begin + elapsed() },
      elapsed: elapsed,
      sleepUntil: { deadline in
        let real = ContinuousClock()
        try await real.sleep(until: start.advanced(by: rate == 1 ? deadline : deadline / rate))
      })
  }
}
