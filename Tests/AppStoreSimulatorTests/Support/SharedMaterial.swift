// The facts next to a checkout, which are not part of the project.

import AppStore
import Foundation
import Testing

enum SharedMaterial {
  static let absence: Testing.Comment = "needs ../shared next to the package"

  /// `../shared`, found from the package's root.
  static let directory: URL? = {
    var folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    while folder.path() != "/" {
      if FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path()) {
        let shared = folder.deletingLastPathComponent().appending(path: "shared")
        return FileManager.default.fileExists(atPath: shared.path()) ? shared : nil
      }
      folder.deleteLastPathComponent()
    }
    return nil
  }()

  static var isPresent: Bool { directory != nil }

  /// A text file; empty if it is missing, which the tests detect by their counts.
  static func text(_ path: String) throws -> String {
    guard let directory else { return "" }
    return String(decoding: try Data(contentsOf: directory.appending(path: path)), as: UTF8.self)
  }

  /// A JSON file; empty if it is missing, which the tests detect by their counts.
  static func json(_ path: String) throws -> JSONObject {
    guard let directory else { return JSONObject() }
    return try JSONObject(parsing: [UInt8](Data(contentsOf: directory.appending(path: path))))
  }
}
