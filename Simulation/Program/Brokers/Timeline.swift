// The events of a run that a person can read, for `--trace`.

internal import CSimulation

final class Timeline: @unchecked Sendable {
  /// Whether lines are kept. They are always mixed into the hash of the run.
  let isKept: Bool
  private(set) var lines: [String] = []

  init(isKept: Bool) { self.isKept = isKept }

  /// - Parameter kind: The kind of event: `fault`, `group`, `transaction`, `request`, `handler`, `process` or `record`.
  func add(_ kind: String, _ text: String) {
    for byte in text.utf8 { simulation_record(UInt64(byte)) }
    keep(kind, text)
  }

  fileprivate func keep(_ kind: String, _ text: String) {
    guard isKept else { return }
    let time = Simulation.worldTime.components
    let milliseconds = time.seconds * 1_000 + time.attoseconds / 1_000_000_000_000_000
    let process = Simulation.ProcessID.current.number
    lines.append("\(milliseconds) ms  p\(process)  \(kind)  \(text)")
  }
}

extension Timeline {
  /// Adds a line that is not a part of the hash, because it is written only for a trace.
  func note(_ kind: String, _ text: String) { keep(kind, text) }
}
