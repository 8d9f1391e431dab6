// The verdict as a table for people.

import ScenarioRig

extension DemoResult {
  var table: String {
    let titles = ["", "posted", "200", "in Kafka", "refused", "quarantined"]
    var cells = rows.map { row in
      [
        row.group.rawValue, "\(row.posted)", "\(row.accepted)", "\(row.arrived)", Self.refused(row.refused),
        "\(row.kept)",
      ]
    }
    let refused = rows.reduce(into: [Int: Int]()) { $0.merge($1.refused, uniquingKeysWith: +) }
    cells.append([
      "all", "\(sum(\.posted))", "\(sum(\.accepted))", "\(sum(\.arrived))", "\(refused.values.reduce(0, +))",
      "\(sum(\.kept))",
    ])
    let widths = titles.indices.map { column in
      ([titles] + cells).map { $0[column].count }.max() ?? 0
    }
    func line(_ cells: [String]) -> String {
      "  "
        + zip(cells, widths).enumerated().map { column, cell in
          // Names are left-aligned, numbers right-aligned, and the list of refusals left-aligned.
          column == 0 || column == 4 ? Terminal.padded(cell.0, cell.1) : Terminal.padded(cell.0, -cell.1)
        }.joined(separator: "   ")
    }
    let rule = "  " + String(repeating: "─", count: widths.reduce(0, +) + 3 * (widths.count - 1))
    var lines = [Terminal.bold(line(titles)), rule]
    lines += zip(rows, cells).map { row, cells in row.faults == 0 ? line(cells) : Terminal.red(line(cells)) }
    lines += [rule, line(cells[cells.count - 1]), ""]
    if isAsPromised {
      lines.append(
        Terminal.green("  As promised: ")
          + "everything the simulator sent is in Kafka byte for byte, as often as it was acknowledged.\n"
          + "  The simulator's report says the same, type by type; nothing else got in.")
    } else {
      lines += faultLines(faults, upTo: 20, more: "  … and") { Terminal.red("  ✗ ") + $0 }
    }
    return lines.joined(separator: "\n")
  }

  private func sum(_ value: KeyPath<Row, Int>) -> Int { rows.reduce(0) { $0 + $1[keyPath: value] } }

  private static func refused(_ counts: [Int: Int]) -> String {
    counts.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
  }
}
