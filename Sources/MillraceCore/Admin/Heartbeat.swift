// Liveness: a task on the shared executor beats every second. If its last beat is old, something blocks the threads
// that all work runs on. The poll loops of Kafka clients report when they last ran. A constant 200 would only prove
// that the HTTP server works.

package import MillraceTime
internal import ServiceLifecycle
internal import Synchronization

/// A heartbeat on the shared executor. Liveness depends on the last beat and on the last iteration of each poll loop.
package final class Heartbeat: Service {
  private struct State {
    var last: MillraceClock.Instant
    var longestGap = Duration.zero
  }

  /// The time between two beats.
  package static let interval = Duration.seconds(1)
  /// The age of a beat beyond which the process counts as hung.
  package static let limit = Duration.seconds(15)

  /// A poll loop's name and the time since its last iteration. The time is nil while the loop does not run, which is a
  /// matter of readiness, not liveness.
  package typealias Pump = (name: String, age: @Sendable () -> Duration?)

  private let clock: MillraceClock
  private let pumps: [Pump]
  private let state: Mutex<State>

  /// Creates a heartbeat whose first beat is now.
  ///
  /// - Parameters:
  ///   - clock: ``MillraceClock/system`` outside tests. Probes use real time, and in compressed time a short pause
  ///     would look like a hang.
  ///   - pumps: The poll loops to watch.
  package init(clock: MillraceClock, pumps: [Pump] = []) {
    self.clock = clock
    self.pumps = pumps
    state = Mutex(State(last: clock.now))
  }

  /// Beats until the process shuts down.
  package func run() async throws {
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

  /// Records one beat.
  func beat() {
    let now = clock.now
    state.withLock { state in
      state.longestGap = max(state.longestGap, state.last.duration(to: now))
      state.last = now
    }
  }

  /// Returns the answer to `/livez`.
  package func report() -> HealthReport {
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

  /// Judges a poll loop by the time since its last iteration.
  static func judge(sinceLastTurn age: Duration) -> CheckOutcome {
    guard age > limit else { return .healthy("the poll loop last ran \(DurationText.text(age)) ago") }
    return .unhealthy(
      "the poll loop has not run for \(DurationText.text(age)): the worker does not serve its group or read records",
      remedy: "save a stack trace of the process, then restart it")
  }

  /// Judges the executor by the time since the last beat.
  static func judge(sinceLastBeat age: Duration) -> CheckOutcome {
    guard age > limit else { return .healthy("the last heartbeat was \(DurationText.text(age)) ago") }
    return .unhealthy(
      "no heartbeat for \(DurationText.text(age)): the executor's threads are blocked",
      remedy: "save a stack trace of the process, then restart it")
  }

  /// The longest time between two beats so far, as a metric.
  package var collector: MetricCollector {
    MetricCollector(
      "millrace_heartbeat_longest_gap_seconds", .gauge,
      help: "Longest gap between two heartbeats, which are due every second, in seconds."
    ) { [weak self] in
      guard let self else { return [] }
      return [.init(self.state.withLock(\.longestGap).seconds)]
    }
  }
}
