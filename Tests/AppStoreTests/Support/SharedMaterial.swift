// Material next to the checkout that is not part of the project: real notifications and lists of fields. Tests that
// need it are marked `.enabled(if: SharedMaterial.isPresent)`, so a run without it reports them as skipped.

import AppStore
import Foundation

enum SharedMaterial {
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

  /// A JSON file; empty if it is missing, which the tests detect by their counts.
  static func json(_ path: String) throws -> JSONObject {
    guard let directory else { return JSONObject() }
    return try JSONObject(parsing: [UInt8](Data(contentsOf: directory.appending(path: path))))
  }

  /// The items of the corpus with this name prefix.
  static func corpus(_ prefix: String) throws -> [CorpusItem] {
    guard let folder = directory?.appending(path: "corpus") else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
      .filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }
      .map { CorpusItem(json: try json("corpus/" + $0)) }
  }
}

/// One item of the corpus.
struct CorpusItem {
  let json: JSONObject

  var id: String { json["id"].flatMap(String.init(jsonValue:)) ?? "?" }
  var kind: String? { json["kind"].flatMap(String.init(jsonValue:)) }
  /// The body, for V1 items and samples.
  var body: JSONObject? {
    guard case .object(let body) = json["body"] else { return nil }
    return body
  }
  /// The signed text, for the other items.
  var jws: String? { json["jws"].flatMap(String.init(jsonValue:)) }

  /// A field of `expected`; nil if it is absent or null.
  func expected<Value: JSONRepresentable>(_ name: String, as type: Value.Type = Value.self) -> Value? {
    guard case .object(let expected) = json["expected"] else { return nil }
    return expected[name].flatMap(Value.init(jsonValue:))
  }
}
