// The corpus and the test vectors next to the repository, for tests that use them if they exist.

import AppStore
import Foundation

/// The package's root: the closest parent folder with a manifest.
let packageRoot: URL = {
  var folder = URL(fileURLWithPath: #filePath)
  while folder.path != "/" {
    folder.deleteLastPathComponent()
    if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) { return folder }
  }
  return folder
}()

/// The project's own topic files.
let topicsDirectory = packageRoot.appendingPathComponent("topics").path

/// `../shared` next to the package. Suites that need it are disabled, visibly, if it is absent.
enum SharedMaterial {
  static let isPresent = FileManager.default.fileExists(atPath: path("vectors/vectors.json"))
  static let absence = "needs ../shared/corpus and ../shared/vectors next to the package"

  static func path(_ name: String) -> String {
    packageRoot.deletingLastPathComponent().appendingPathComponent("shared").appendingPathComponent(name).path
  }

  static func object(_ name: String) throws -> JSONObject {
    try JSONObject(parsing: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name)))))
  }

  static func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
  }
}

extension JSONObject {
  func string(_ name: String) -> String? {
    if case .string(let text)? = self[name] { text } else { nil }
  }

  func integer(_ name: String) -> Int64? {
    if case .integer(let number)? = self[name] { number } else { nil }
  }

  func object(_ name: String) -> JSONObject? {
    if case .object(let object)? = self[name] { object } else { nil }
  }
}
