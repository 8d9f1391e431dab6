// Colour on a terminal, none in files and logs.

import Foundation
import Operations

enum Terminal {
  private static let usesColor = Output.standardOutput(environment: ProcessInfo.processInfo.environment).usesColor

  static func green(_ text: String) -> String { TextStyle.green.applied(to: text, usesColor: usesColor) }
  static func red(_ text: String) -> String { TextStyle.red.applied(to: text, usesColor: usesColor) }
  static func bold(_ text: String) -> String { TextStyle.bold.applied(to: text, usesColor: usesColor) }

  /// Pads the text with spaces to `width`: on the right, or on the left if `width` is negative.
  static func padded(_ text: String, _ width: Int) -> String {
    let spaces = String(repeating: " ", count: max(0, abs(width) - text.count))
    return width < 0 ? spaces + text : text + spaces
  }
}
