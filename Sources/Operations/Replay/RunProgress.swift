// Shows a running replay: one changing line on a terminal, JSON lines elsewhere.

internal import AppStore
package import MillraceTime
internal import Synchronization

/// Prints a run's progress at a limited rate.
package final class RunProgress: Sendable {
  private struct State {
    var shownAt: MillraceClock.Instant?
    var hasLine = false
  }

  private let output: Output
  private let asJSON: Bool
  private let clock: MillraceClock
  private let state = Mutex(State())

  /// Moves to the beginning of the line above and clears it.
  private static let lineAbove = "\u{1B}[1A\u{1B}[2K"

  /// Creates a display.
  package init(_ output: Output, asJSON: Bool, clock: MillraceClock) {
    (self.output, self.asJSON, self.clock) = (output, asJSON, clock)
  }

  /// Shows a change.
  /// - Throws: ``OperationError`` of kind `outputClosed` if the reader closed the output.
  package func report(_ run: ReplayRun) throws(OperationError) {
    let pause: Duration = asJSON ? .seconds(1) : .milliseconds(100)
    let now = clock.now
    let isDue = state.withLock { state in
      if let shownAt = state.shownAt, shownAt.advanced(by: pause) > now { return false }
      state.shownAt = now
      return true
    }
    if isDue { try show(run) }
  }

  /// Shows the final state.
  /// - Throws: ``OperationError`` of kind `outputClosed` if the reader closed the output.
  package func end(_ run: ReplayRun) throws(OperationError) { try show(run) }

  private func show(_ run: ReplayRun) throws(OperationError) {
    if asJSON { return try output.line(run.jsonLine) }
    let line = run.bar(now: clock.wallTime, width: output.width ?? 80, usesColor: output.usesColor)
    let replaces = state.withLock { state in
      defer { state.hasLine = true }
      return state.hasLine && output.isTerminal
    }
    try output.text((replaces ? Self.lineAbove : "") + line + "\n")
  }
}
