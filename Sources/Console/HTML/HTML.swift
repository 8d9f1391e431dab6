// Markup as a value that is safe by how it is made: literals in the source are markup, whatever is put into them is text
// and comes out escaped. There is no way to turn a string from outside into markup; see docs/adr.

internal import Operations

/// A piece of an HTML document.
///
/// Attribute values stand in double quotes in the literal: `"<a href=\"\(link)\">\(name)</a>"`.
struct HTML: Sendable, Hashable {
  /// The markup.
  private(set) var text: String

  /// Nothing.
  init() { text = "" }

  /// Text, escaped.
  init(text: String) {
    self.text = ""
    Self.escape(text, into: &self.text)
  }

  static func += (left: inout HTML, right: HTML) { left.text += right.text }
}

extension HTML: ExpressibleByStringInterpolation {
  /// Only a literal in the source can be one: a string made at run time cannot.
  init(stringLiteral literal: StaticString) { text = literal.description }

  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  /// Pieces of a literal as they are, values between them escaped.
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
  /// Escapes for text and for attribute values in quotes. Characters that a page must not hold, and those that turn the
  /// direction of writing so that a line reads as something else, become the replacement character.
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

extension [HTML] {
  /// The pieces with `separator` between them.
  func joined(by separator: HTML) -> HTML {
    var whole = HTML()
    for (index, part) in enumerated() {
      if index > 0 { whole += separator }
      whole += part
    }
    return whole
  }
}
