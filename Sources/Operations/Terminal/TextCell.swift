// The cells and columns of a table.

/// A cell of a table.
package struct TextCell: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The text, escaped for terminals.
  package var text: String
  /// The style.
  package var style: TextStyle

  /// Creates a cell. Control characters in `text` are escaped.
  package init(_ text: String, _ style: TextStyle = .plain) {
    self.text = TerminalText.safe(text)
    self.style = style
  }

  /// Creates a cell in plain style.
  package init(stringLiteral value: String) { self.init(value) }

  func rendered(width: Int, alignment: TextAlignment, usesColor: Bool) -> String {
    let cut = TerminalText.cut(text, to: width)
    let padding = TerminalText.pad("", to: max(0, width - TerminalText.width(cut)))
    let styled = style.applied(to: cut, usesColor: usesColor)
    return alignment == .left ? styled + padding : padding + styled
  }
}

/// A column of a table.
package struct TextColumn: Sendable, Hashable {
  /// The heading.
  package var title: String
  /// The initial width, in columns of the terminal. Wider cells widen the column.
  package var minimumWidth: Int
  /// The alignment of the cells.
  package var alignment: TextAlignment

  /// Creates a column.
  package init(_ title: String, minimumWidth: Int = 0, alignment: TextAlignment = .left) {
    self.title = title
    self.minimumWidth = minimumWidth
    self.alignment = alignment
  }
}
