// The few ways in which text stands out in a terminal.

/// How a piece of text looks on a terminal with colour (ECMA-48, "Select Graphic Rendition").
public enum TextStyle: Sendable, Hashable, CaseIterable {
  /// As everything else.
  case plain
  /// Headings.
  case bold
  /// What is rarely looked at.
  case dim
  /// What went wrong or was taken away.
  case red
  /// What went well.
  case green
  /// What somebody should look at.
  case yellow
  /// What is merely different.
  case cyan

  private var code: Int? {
    switch self {
    case .plain: nil
    case .bold: 1
    case .dim: 2
    case .red: 31
    case .green: 32
    case .yellow: 33
    case .cyan: 36
    }
  }

  /// The text in this style, or as it is where colour is not wanted.
  public func applied(to text: String, usesColor: Bool) -> String {
    guard usesColor, let code, !text.isEmpty else { return text }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}
