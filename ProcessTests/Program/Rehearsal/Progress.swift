// Shows the progress of a rehearsal.

import AppStoreSimulator
import Operations

/// The progress of a run.
struct Progress: Sendable {
  var failures: Int
  /// Whether Apple has sent every failure.
  var isTold: Bool
  var ended: Int
  var names: [String: Int]
  var calls: APIReport.Requests?

  var text: String {
    let calls = calls?.count ?? 0
    let refunds = ["entitlement.revoked", "entitlement.reinstated", "refund.declined"].reduce(0) {
      $0 + names[$1, default: 0]
    }
    return """
      \(ended) of \(failures) failures ended, \(names["extension.applied", default: 0]) extended, \
      \(names["extension.refused", default: 0]) refused, \(calls) calls, \(refunds) refund events
      """
  }
}

/// Shows progress: on a terminal in one changing line, in a log in occasional lines.
struct ProgressLine {
  private let output: Output
  private var shown = ""
  private var last: ContinuousClock.Instant?

  init(_ output: Output) { self.output = output }

  mutating func show(_ progress: Progress) {
    let (now, text) = (ContinuousClock.now, "      \(progress.text)")
    guard output.isTerminal else {
      guard text != shown, last.map({ now - $0 > .seconds(5) }) ?? true else { return }
      (shown, last) = (text, now)
      return output.note(text)
    }
    let cut = String(text.prefix((output.width ?? 80) - 1))
    guard cut != shown else { return }
    write("\r" + cut + String(repeating: " ", count: max(0, shown.count - cut.count)))
    shown = cut
  }

  /// Ends the line and keeps its text.
  mutating func end() {
    if output.isTerminal, !shown.isEmpty { write("\n") }
    shown = ""
  }

  private func write(_ text: String) {
    do {
      try output.text(text)
    } catch {
      // The reader closed the output.
    }
  }
}
