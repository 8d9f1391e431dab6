// Foreign text in a terminal: how wide it is, how it is cut, and how it is kept from steering the terminal. Records are
// data of others; an escape sequence inside one must show as text.

/// Measures and tames text that goes to a terminal.
public enum TerminalText {
  /// The text with everything that would move the cursor, colour the screen or turn the direction of writing replaced by
  /// its escaped spelling (`\u{1B}`).
  public static func safe(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isUnsafe(scalar) {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: true
    // Marks and overrides of direction, line and paragraph separators.
    case 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }

  /// Columns that the text takes: two for East Asian wide characters and emoji, none for combining marks.
  public static func width(_ text: String) -> Int {
    // ASCII is all there is in almost every record.
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  private static func width(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(first) ? 2 : 1
    }
  }

  /// The blocks that Unicode's EastAsianWidth.txt lists as W or F, whole blocks at a time.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
      0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
      0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }

  /// The text in at most `columns` columns, with `…` in the place of what was cut.
  public static func cut(_ text: String, to columns: Int) -> String {
    guard width(text) > columns else { return text }
    guard columns > 0 else { return "" }
    var result = ""
    var used = 0
    for character in text {
      let next = width(character)
      if used + next > columns - 1 { break }
      used += next
      result.append(character)
    }
    return result + "…"
  }

  /// The text filled with spaces up to `columns`; longer text stays as it is.
  public static func pad(_ text: String, to columns: Int, alignment: TextAlignment = .left) -> String {
    let fill = String(repeating: " ", count: max(0, columns - width(text)))
    return alignment == .left ? text + fill : fill + text
  }
}

/// On which side of its column a text stands.
public enum TextAlignment: Sendable, Hashable {
  /// Words.
  case left
  /// Numbers.
  case right
}
