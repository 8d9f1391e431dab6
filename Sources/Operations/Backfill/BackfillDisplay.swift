// Shows a run: on a terminal, messages above one progress line; otherwise lines, or one JSON object per line.

internal import AppStore
internal import MillraceTime
internal import MillraceWorker
internal import Synchronization

/// Shows the reports of a run.
package final class BackfillDisplay: Sendable {
  private struct State {
    var begun: (at: Timestamp, slicesDone: Int)?
    var hasLine = false
    /// The time of the last progress line in a pipe.
    var printedAt: Timestamp?
  }

  /// How often a pipe gets a progress line.
  private static let interval = Duration.seconds(10)

  private let out: Output
  private let asJSON: Bool
  private let state = Mutex(State())

  /// Creates a display.
  package init(_ out: Output, asJSON: Bool) {
    self.out = out
    self.asJSON = asJSON
  }

  /// Shows one report.
  /// - Throws: ``OperationError`` of kind `outputClosed` if the reader closed the output.
  package func report(_ report: BackfillReport) throws {
    if asJSON { return try out.line(report.jsonLine) }
    try state.withLock { state throws(OperationError) in
      if case .progress(let run) = report {
        let begun = state.begun ?? (run.updatedAt, run.slicesDone)
        state.begun = begun
        let line = run.progressLine(at: run.updatedAt, begun: begun, width: out.width, usesColor: out.usesColor)
        guard out.isTerminal else {
          if let printedAt = state.printedAt, run.updatedAt < printedAt + Self.interval { return }
          state.printedAt = run.updatedAt
          return try out.line(TerminalText.safe(line))
        }
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
