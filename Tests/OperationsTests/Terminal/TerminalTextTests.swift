import Operations
import Testing

@Suite("Untrusted text in a terminal")
struct TerminalTextTests {
  @Test(
    "control characters are escaped",
    arguments: [
      ("DID_RENEW", "DID_RENEW"),
      ("\u{1B}[31mred\u{07}", "\\u{1B}[31mred\\u{7}"),
      ("a\r\nb\tc", "a\\u{D}\\u{A}b\\u{9}c"),
      ("\u{9B}2J", "\\u{9B}2J"),
      ("user\u{202E}gnp.exe", "user\\u{202E}gnp.exe"),
      ("käse 東京 👍", "käse 東京 👍"),
    ])
  func safe(text: String, expected: String) {
    #expect(TerminalText.safe(text) == expected)
  }

  @Test(
    "width counts columns, not characters",
    arguments: [
      ("", 0), ("abc", 3), ("käse", 4), ("ka\u{308}se", 4), ("東京", 4), ("ｱ", 1), ("👍", 2), ("…", 1),
    ])
  func width(text: String, expected: Int) {
    #expect(TerminalText.width(text) == expected)
  }

  @Test(
    "truncated text is marked and fits its columns",
    arguments: [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("東京都", 4, "東…"), ("abc", 1, "…"), ("abc", 0, "")])
  func cut(text: String, columns: Int, expected: String) {
    let cut = TerminalText.cut(text, to: columns)
    #expect(cut == expected)
    #expect(TerminalText.width(cut) <= columns)
  }

  @Test("padding aligns by columns")
  func pad() {
    #expect(TerminalText.pad("東", to: 4) == "東  ")
    #expect(TerminalText.pad("9", to: 3, alignment: .right) == "  9")
    #expect(TerminalText.pad("long", to: 2) == "long")
  }
}
