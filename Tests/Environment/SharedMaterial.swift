// Notifications that Apple signed, test vectors and facts, which are next to the project and not a part of it.

package import AppStore
internal import Foundation

/// The folder `../shared`. A test that needs it is marked `.enabled(if: SharedMaterial.isPresent, …)`, so a run without
/// the folder reports the test as skipped.
package enum SharedMaterial {
  package static let isPresent = FileManager.default.fileExists(atPath: path("vectors/vectors.json"))

  /// Returns the path of a file, whose name is relative to the folder.
  package static func path(_ name: String) -> String { "\(Project.root)/../shared/\(name)" }

  package static func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

  package static func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

  package static func json(_ name: String) throws -> JSONObject { try JSONObject(parsing: bytes(name)) }

  /// Returns the names in a folder, sorted.
  package static func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
  }
}
