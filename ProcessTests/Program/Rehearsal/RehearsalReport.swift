// Compares runs side by side.

import Operations

struct RehearsalReport {
  private let results: [RunResult]
  private let output: Output

  init(_ results: [RunResult], _ output: Output) { (self.results, self.output) = (results, output) }

  var lines: [String] {
    let columns =
      [TextColumn("")]
      + results.map {
        TextColumn($0.workers == 1 ? "1 worker" : "\($0.workers) workers", minimumWidth: 10, alignment: .right)
      }
    func rows(_ rows: KeyPath<RunResult, [(title: String, value: String)]>) -> [[TextCell]] {
      (results.first?[keyPath: rows] ?? []).enumerated().map { index, row in
        [TextCell(row.title)]
          + results.map { result in
            let values = result[keyPath: rows]
            return TextCell(index < values.count ? values[index].value : "")
          }
      }
    }
    let table = TextTable.lines(
      columns, rows: rows(\.outcome) + rows(\.measured), lineWidth: nil, usesColor: output.usesColor)
    return [""] + table.map { "    " + $0 } + [""]
  }

  /// The results that differ between runs but must not depend on the number of processes.
  static func differences(_ results: [RunResult]) -> [String] {
    guard let first = results.first else { return [] }
    return results.dropFirst().flatMap { other in
      zip(first.outcome, other.outcome).filter { $0.value != $1.value }.map { row, others in
        """
        \(row.title): \(row.value) with \(first.workers) and \(others.value) with \(other.workers) of each worker
        """
      }
    }
  }
}
