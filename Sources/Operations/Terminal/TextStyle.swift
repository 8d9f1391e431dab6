// Text styles for a terminal.

/// A text style on a terminal with colour (ECMA-48, "Select Graphic Rendition").
package enum TextStyle: Sendable, Hashable, CaseIterable {
  /// The default style.
  case plain
  /// For headings.
  case bold
  /// For less important text.
  case dim
  /// For failures and revocations.
  case red
  /// For success.
  case green
  /// For text that needs attention.
  case yellow
  /// For text that differs in kind, such as an ID.
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

  /// Applies the style, or returns the text unchanged if colour is off.
  package func applied(to text: String, usesColor: Bool) -> String {
    guard usesColor, let code, !text.isEmpty else { return text }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}
