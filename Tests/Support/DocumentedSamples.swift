// Reads the JSON samples of a page in `docs/`.

internal import Foundation
internal import TestEnvironment

/// A JSON block of a page, with the title of its section.
package struct DocumentedSample: Sendable {
  /// The section's title, without `#`, backquotes and spaces.
  package var title: String
  /// The text of the block.
  package var json: String

  /// The JSON blocks of a page, in order.
  package static func all(in page: String) throws -> [DocumentedSample] {
    let text = try Project.text(page)
    var samples: [DocumentedSample] = []
    var title = ""
    var json: [String]?
    for line in text.components(separatedBy: "\n") {
      if line.hasPrefix("#") { title = line.replacing("#", with: "").replacing("`", with: "").replacing(" ", with: "") }
      if line == "```json" {
        json = []
      } else if line == "```", let lines = json {
        samples.append(DocumentedSample(title: title, json: lines.joined(separator: "\n")))
        json = nil
      } else {
        json?.append(line)
      }
    }
    return samples
  }
}
