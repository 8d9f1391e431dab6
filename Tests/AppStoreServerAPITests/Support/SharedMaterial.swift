// The facts about Apple's API next to the repository, for tests that use them if they exist.

import AppStore
import Foundation

/// `../shared` next to the package. Tests that need it are disabled, visibly, if it is absent.
enum SharedMaterial {
  static let isPresent = FileManager.default.fileExists(atPath: path("app-store-facts/endpoints.json"))
  static let absence = "needs ../shared/app-store-facts next to the package"

  private static let packageRoot: URL = {
    var folder = URL(fileURLWithPath: #filePath)
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) { return folder }
    }
    return folder
  }()

  static func path(_ name: String) -> String {
    packageRoot.deletingLastPathComponent().appendingPathComponent("shared").appendingPathComponent(name).path
  }

  static func object(_ name: String) throws -> JSONObject {
    try JSONObject(parsing: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name)))))
  }
}

extension JSONObject {
  func string(_ name: String) -> String? {
    if case .string(let text)? = self[name] { text } else { nil }
  }

  func integer(_ name: String) -> Int64? {
    if case .integer(let number)? = self[name] { number } else { nil }
  }

  func objects(_ name: String) -> [JSONObject] {
    guard case .array(let elements)? = self[name] else { return [] }
    return elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
  }
}
