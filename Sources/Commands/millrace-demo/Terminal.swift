// Colour on a terminal, none in files and logs.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

enum Terminal {
  private static let hasColour = isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil

  static func green(_ text: String) -> String { coloured("32", text) }
  static func red(_ text: String) -> String { coloured("31", text) }
  static func bold(_ text: String) -> String { coloured("1", text) }

  private static func coloured(_ code: String, _ text: String) -> String {
    hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }

  /// Pads the text with spaces to `width`: on the right, or on the left if `width` is negative.
  static func padded(_ text: String, _ width: Int) -> String {
    let spaces = String(repeating: " ", count: max(0, abs(width) - text.count))
    return width < 0 ? spaces + text : text + spaces
  }
}
