// The corpus and the test vectors next to the repository, for tests that use them if they exist.
import AppStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `../shared` next to the package. Suites that need it are disabled, visibly, if it is absent.
enum SharedMaterial {
  static let isPresent = directory != nil
  static let absence = "needs ../shared/corpus and ../shared/vectors next to the package"

  private static let directory: String? = {
    var path = #filePath
    while let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      path = String(path[..<slash])
      if FileManager.default.fileExists(atPath: path + "/Package.swift") {
        let shared = path + "/../shared"
        return FileManager.default.fileExists(atPath: shared + "/vectors/vectors.json") ? shared : nil
      }
    }
    return nil
  }()

  /// The bytes of a file below `../shared`; nil if it cannot be read.
  static func bytes(_ name: String) -> [UInt8]? {
    directory.flatMap { FileManager.default.contents(atPath: $0 + "/" + name) }.map { [UInt8]($0) }
  }

  /// The names of the files in a folder of `../shared`, sorted.
  static func names(in folder: String) throws -> [String] {
    guard let directory else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: directory + "/" + folder).sorted()
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
