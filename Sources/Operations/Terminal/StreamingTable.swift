// A table of unknown length. Rows are shown as they arrive, and columns only widen. A row wider than the terminal
// continues on indented lines below, so nothing is lost on a narrow terminal.

/// Formats rows one at a time.
package struct StreamingTable: Sendable {
  /// The columns.
  package let columns: [TextColumn]
  private let lineWidth: Int?
  private let usesColor: Bool
  private var widths: [Int]

  private static let gap = 2
  private static let indent = 4

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - lineWidth: The number of columns of the terminal; nil puts each row on one line.
  ///   - usesColor: Whether to apply styles.
  package init(_ columns: [TextColumn], lineWidth: Int?, usesColor: Bool) {
    self.columns = columns
    self.lineWidth = lineWidth
    self.usesColor = usesColor
    widths = columns.map { max($0.minimumWidth, TerminalText.width($0.title)) }
  }

  /// The lines of the headings.
  package mutating func header() -> [String] { lines(columns.map { TextCell($0.title, .dim) }) }

  /// The lines of one row. Missing cells are empty.
  package mutating func lines(_ row: [TextCell]) -> [String] {
    let cells = columns.indices.map { $0 < row.count ? row[$0] : "" }
    for (index, cell) in cells.enumerated() { widths[index] = max(widths[index], TerminalText.width(cell.text)) }
    return layout().enumerated().map { line, indices in
      let margin = line == 0 ? "" : String(repeating: " ", count: Self.indent)
      let room = lineWidth.map { max(1, $0 - margin.utf8.count) } ?? .max
      let fields = indices.map { index in
        cells[index].rendered(
          width: min(widths[index], room), alignment: columns[index].alignment, usesColor: usesColor)
      }
      return Self.trimmed(margin + fields.joined(separator: String(repeating: " ", count: Self.gap)))
    }.filter { !$0.isEmpty }
  }

  /// The columns of each line.
  private func layout() -> [[Int]] {
    guard let lineWidth else { return [Array(columns.indices)] }
    var lines: [[Int]] = [[]]
    var used = 0
    for index in columns.indices {
      let gap = lines[lines.count - 1].isEmpty ? 0 : Self.gap
      if used + gap + widths[index] > lineWidth, gap > 0 {
        lines.append([index])
        used = Self.indent + widths[index]
      } else {
        lines[lines.count - 1].append(index)
        used += gap + widths[index]
      }
    }
    return lines
  }

  private static func trimmed(_ line: String) -> String {
    var line = Substring(line)
    while line.last == " " { line.removeLast() }
    return String(line)
  }
}
