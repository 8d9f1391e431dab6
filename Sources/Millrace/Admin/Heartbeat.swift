// Liveness: does the process still turn? A task on the shared executor beats; how late its beats are tells whether
// anything blocks the threads that all work runs on. Pumps that serve Kafka tell when they turned last. A constant 200
// would prove that the HTTP server works, no more.

public import Clocks
public import ServiceLifecycle
internal import Synchronization

/// Beats on the shared executor, and judges by the last beat and by the last turn of each pump.
public final class Heartbeat: Service {
  private struct State {
    var last: MillraceClock.Instant
    var longestGap = Duration.zero
  }

  /// How often it beats.
  public static let interval = Duration.seconds(1)
  /// A beat this old means that the process hangs.
  public static let limit = Duration.seconds(15)

  /// Names a pump, and tells how long ago it turned: nil while it does not run, which is for readiness to judge.
  public typealias Pump = (name: String, age: @Sendable () -> Duration?)

  private let clock: MillraceClock
  private let pumps: [Pump]
  private let state: Mutex<State>

  /// A heart whose first beat is now.
  ///
  /// - Parameters:
  ///   - clock: ``MillraceClock/system`` outside of tests: whoever probes has real patience, and compressed time would
  ///     take a short pause for death.
  ///   - pumps: What has to turn besides.
  public init(clock: MillraceClock, pumps: [Pump] = []) {
    self.clock = clock
    self.pumps = pumps
    state = Mutex(State(last: clock.now))
  }

  /// Beats until the process leaves.
  public func run() async throws {
    try await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        self.beat()
        do {
          try await self.clock.sleep(until: self.clock.now.advanced(by: Self.interval), tolerance: nil)
        } catch is CancellationError {
          return
        }
      }
    }
  }

  /// Notes one beat.
  func beat() {
    let now = clock.now
    state.withLock { state in
      state.longestGap = max(state.longestGap, state.last.duration(to: now))
      state.last = now
    }
  }

  /// What `/livez` answers.
  public func report() -> HealthReport {
    let last = state.withLock(\.last)
    var entries = [
      HealthReport.Entry(name: "executor", outcome: Self.judge(sinceLastBeat: last.duration(to: clock.now)))
    ]
    for pump in pumps {
      guard let age = pump.age() else { continue }
      entries.append(HealthReport.Entry(name: "pump-\(pump.name)", outcome: Self.judge(sinceLastTurn: age)))
    }
    return HealthReport(entries)
  }

  /// Whether a pump whose last turn is so long ago still turns.
  static func judge(sinceLastTurn age: Duration) -> CheckOutcome {
    guard age > limit else { return .healthy("the last turn was \(DurationText.text(age)) ago") }
    return .unhealthy(
      "no turn for \(DurationText.text(age)): the group is not served, and its records are not read",
      remedy: "restart the process and keep a stack trace of it")
  }

  /// Whether a process whose last beat is so long ago still turns.
  static func judge(sinceLastBeat age: Duration) -> CheckOutcome {
    guard age > limit else { return .healthy("the last beat was \(DurationText.text(age)) ago") }
    return .unhealthy(
      "no beat for \(DurationText.text(age)): the executor's threads are blocked",
      remedy: "restart the process and keep a stack trace of it")
  }

  /// The longest time between two beats so far, as a metric.
  public var collector: MetricCollector {
    MetricCollector(
      "millrace_heartbeat_longest_gap_seconds", .gauge,
      help: "Longest time between two beats of a task that beats every second, in seconds."
    ) { [weak self] in
      guard let self else { return [] }
      return [.init(self.state.withLock(\.longestGap).seconds)]
    }
  }
}
