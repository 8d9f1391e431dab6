// The project's own files, which tests compare with the code.

package import AppStore
internal import Foundation

package enum Project {
  /// The root directory of the package, without a trailing slash.
  package static let root: String = {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    while let last = parts.popLast(), last != "Tests" {}
    return parts.joined(separator: "/")
  }()

  /// Returns the path of a file, whose name is relative to the root.
  package static func path(_ name: String) -> String { "\(root)/\(name)" }

  package static func text(_ name: String) throws -> String {
    try String(contentsOfFile: path(name), encoding: .utf8)
  }

  package static func json(_ name: String) throws -> JSONObject { try JSONObject(parsing: Array(text(name).utf8)) }

  /// Returns the names in a folder, sorted.
  package static func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
  }
}
