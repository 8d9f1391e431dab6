// One field of a table.

/// A piece of text in a column.
public struct TextCell: Sendable, Hashable, ExpressibleByStringLiteral {
  /// What it says; foreign text is made safe for terminals.
  public var text: String
  /// How it looks.
  public var style: TextStyle

  /// A field. Control characters in `text` are escaped.
  public init(_ text: String, _ style: TextStyle = .plain) {
    self.text = TerminalText.safe(text)
    self.style = style
  }

  /// A field in plain style.
  public init(stringLiteral value: String) { self.init(value) }

  func rendered(width: Int, alignment: TextAlignment, usesColor: Bool) -> String {
    let cut = TerminalText.cut(text, to: width)
    let padding = TerminalText.pad("", to: max(0, width - TerminalText.width(cut)))
    let styled = style.applied(to: cut, usesColor: usesColor)
    return alignment == .left ? styled + padding : padding + styled
  }
}

/// A column of a table.
public struct TextColumn: Sendable, Hashable {
  /// Its heading.
  public var title: String
  /// The width it has before anything wider comes, in columns of the terminal.
  public var minimumWidth: Int
  /// On which side its fields stand.
  public var alignment: TextAlignment

  /// A column.
  public init(_ title: String, minimumWidth: Int = 0, alignment: TextAlignment = .left) {
    self.title = title
    self.minimumWidth = minimumWidth
    self.alignment = alignment
  }
}
