// The beginning of a receiver's answer, which retried records and dead letters keep for the operator (docs/adr/0065).

package import MillraceRecords

/// An excerpt of the body of an answer: one short line of text.
package enum AnswerExcerpt {
  /// The largest length, in bytes of UTF-8.
  package static let maximumBytes = 200

  /// Returns the beginning of a body. Control and format characters and white space become single spaces, and invalid
  /// UTF-8 becomes the replacement character. Empty if nothing is left.
  package static func text(of body: [UInt8]) -> String {
    text(String(decoding: body.prefix(4 * maximumBytes), as: UTF8.self))
  }

  /// Returns the beginning of a text, in the same form.
  package static func text(_ whole: String) -> String {
    var (text, bytes, needsSpace) = (String.UnicodeScalarView(), 0, false)
    for scalar in whole.unicodeScalars {
      guard !isSpace(scalar) else {
        needsSpace = bytes > 0
        continue
      }
      let size = UTF8.width(scalar) + (needsSpace ? 1 : 0)
      guard bytes + size <= maximumBytes else { break }
      if needsSpace { text.append(" ") }
      text.append(scalar)
      (bytes, needsSpace) = (bytes + size, false)
    }
    return String(text)
  }

  /// Whether a character is white space, or could change how the text around it is shown.
  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .spaceSeparator, .surrogate, .unassigned:
      true
    default: false
    }
  }
}

extension DeliveryHistory {
  /// The excerpt of the receiver's last answer; nil if there is none. Another writer of the topic cannot exceed its bounds.
  package var lastAnswer: String? {
    let text = AnswerExcerpt.text(answer)
    return text.isEmpty ? nil : text
  }
}
