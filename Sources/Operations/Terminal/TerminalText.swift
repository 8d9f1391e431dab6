// Measures, truncates and escapes untrusted text for a terminal. Other programs write records, so an escape sequence in
// a record must be shown as text.

/// Measures and escapes text for a terminal.
package enum TerminalText {
  /// Escapes all characters that would move the cursor, change colours or change the writing direction (`\u{1B}`).
  package static func safe(_ text: String) -> String {
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
    // Direction marks and overrides, line and paragraph separators.
    case 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }

  /// The number of columns of a text: two for East Asian wide characters and emoji, none for combining marks.
  package static func width(_ text: String) -> Int {
    // Fast path: almost all records are ASCII.
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

  /// Whether the scalar is in a block that Unicode's EastAsianWidth.txt lists as W or F. Covers whole blocks.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
      0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
      0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }

  /// Truncates the text to at most `columns` columns and marks the cut with `…`.
  package static func cut(_ text: String, to columns: Int) -> String {
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

  /// Pads the text with spaces to `columns` columns. Longer text is unchanged.
  package static func pad(_ text: String, to columns: Int, alignment: TextAlignment = .left) -> String {
    let fill = String(repeating: " ", count: max(0, columns - width(text)))
    return alignment == .left ? text + fill : fill + text
  }
}

/// The alignment of text in its column.
package enum TextAlignment: Sendable, Hashable {
  /// For words.
  case left
  /// For numbers.
  case right
}
