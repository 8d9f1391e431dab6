// A run at a terminal: one line that changes, with whatever happens above it. Piped: one object a line.

internal import AppStore
internal import Clocks
internal import Millrace
internal import Synchronization

/// Shows what a run reports.
public final class BackfillDisplay: Sendable {
  private struct State {
    var begun: (at: Timestamp, slicesDone: Int)?
    var hasLine = false
  }

  private let out: Output
  private let asJSON: Bool
  private let state = Mutex(State())

  /// A display on one place.
  public init(_ out: Output, asJSON: Bool) {
    self.out = out
    self.asJSON = asJSON
  }

  /// Shows a report.
  /// - Throws: ``OperationError`` of kind `outputClosed` where the reader is gone.
  public func report(_ report: BackfillReport) throws {
    if asJSON { return try out.line(report.jsonLine) }
    try state.withLock { state throws(OperationError) in
      if case .progress(let run) = report {
        let begun = state.begun ?? (run.updatedAt, run.slicesDone)
        state.begun = begun
        let line = run.progressLine(at: run.updatedAt, begun: begun, width: out.width, usesColor: out.usesColor)
        // Not a terminal: a line each time would be a log of nothing.
        guard out.isTerminal else { return }
        try out.text("\r\u{1B}[2K" + TerminalText.cut(line, to: out.width ?? 120))
        state.hasLine = true
      } else if let line = report.line {
        if state.hasLine { try out.text("\r\u{1B}[2K") }
        state.hasLine = false
        try out.line(TerminalText.safe(line))
      }
    }
  }
}
