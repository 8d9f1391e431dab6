// The details of one object: a label and a value per line, in groups. Missing values are omitted.

/// Labeled values for a terminal.
package struct FactSheet: Sendable {
  private var groups: [[(label: String, cell: TextCell)]] = [[]]

  /// An empty sheet.
  package init() {}

  /// Adds a value, unless it is nil.
  package mutating func add(_ label: String, _ value: String?, _ style: TextStyle = .plain) {
    guard let value else { return }
    groups[groups.count - 1].append((TerminalText.safe(label), TextCell(value, style)))
  }

  /// Starts a new group.
  package mutating func beginGroup() {
    if groups.last?.isEmpty == false { groups.append([]) }
  }

  /// The lines: aligned labels, and a blank line between groups. Values are never truncated; long ones wrap at the edge
  /// of the terminal.
  package func lines(usesColor: Bool) -> [String] {
    let filled = groups.filter { !$0.isEmpty }
    let width = filled.joined().map { TerminalText.width($0.label) }.max() ?? 0
    var lines: [String] = []
    for group in filled {
      if !lines.isEmpty { lines.append("") }
      for fact in group {
        let label = TextStyle.dim.applied(to: TerminalText.pad(fact.label, to: width), usesColor: usesColor)
        let value = fact.cell.style.applied(to: fact.cell.text, usesColor: usesColor)
        lines.append("\(label)  \(value)")
      }
    }
    return lines
  }
}
