// A directory that is removed at the end of a test.

internal import Foundation

package struct TemporaryDirectory: ~Copyable {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "millrace-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file and returns its path.
  package borrowing func write(_ text: String, to name: String) throws -> String {
    let file = "\(path)/\(name)"
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    return file
  }
}
