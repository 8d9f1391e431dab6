// One thing in detail: a label and a value on each line, in groups. What is not there is not shown.

/// Facts about one thing, for a terminal.
public struct FactSheet: Sendable {
  private var groups: [[(label: String, cell: TextCell)]] = [[]]

  /// A sheet without facts.
  public init() {}

  /// Adds a fact; nothing where there is none.
  public mutating func add(_ label: String, _ value: String?, _ style: TextStyle = .plain) {
    guard let value else { return }
    groups[groups.count - 1].append((TerminalText.safe(label), TextCell(value, style)))
  }

  /// What follows stands apart.
  public mutating func beginGroup() {
    if groups.last?.isEmpty == false { groups.append([]) }
  }

  /// The lines: labels in a column of their own, a blank line between groups. Values are never cut: one that is wider
  /// than the terminal wraps there.
  public func lines(usesColor: Bool) -> [String] {
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
