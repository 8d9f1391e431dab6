// A type for HTML that cannot be injected into. Literals in the source are markup; values interpolated into them are
// text and are escaped. No initializer turns a run-time string into markup; see docs/adr.

internal import Operations

/// A piece of an HTML document.
///
/// Put attribute values in double quotes: `"<a href=\"\(link)\">\(name)</a>"`.
struct HTML: Sendable, Hashable {
  private(set) var text: String

  init() { text = "" }

  static func += (left: inout HTML, right: HTML) { left.text += right.text }
}

extension HTML: ExpressibleByStringInterpolation {
  /// Creates markup from a literal. A string made at run time does not compile here.
  init(stringLiteral literal: StaticString) { text = literal.description }

  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  /// Copies the pieces of a literal unchanged and escapes the values between them.
  struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

    mutating func appendLiteral(_ literal: StaticString) { text += literal.description }
    mutating func appendInterpolation(_ value: String) { HTML.escape(value, into: &text) }
    mutating func appendInterpolation(_ value: some BinaryInteger) { text += String(value) }
    mutating func appendInterpolation(_ id: DeadLetterID) { text += id.description }
    mutating func appendInterpolation(_ html: HTML) { text += html.text }
    mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }
    mutating func appendInterpolation(_ html: [HTML]) { for part in html { text += part.text } }
  }

  typealias StringInterpolation = Interpolation
}

extension HTML {
  /// Escapes for text and for quoted attribute values. Replaces characters that HTML does not allow, and those that
  /// change the writing direction and could disguise a line, with the replacement character.
  private static func escape(_ value: String, into text: inout String) {
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      case "\t", "\n": text.unicodeScalars.append(scalar)
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FFFE}",
        "\u{FFFF}":
        text += "\u{FFFD}"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}
