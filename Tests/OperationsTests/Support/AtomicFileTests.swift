import Foundation
import Operations
import Testing

@Suite("Files that appear whole or not at all")
struct AtomicFileTests {
  private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("atomic-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

  @Test("a file replaces what was there and leaves nothing beside it")
  func replaces() throws {
    let path = directory.appendingPathComponent("bootstrap").path
    try AtomicFile.write("old\n", to: path)
    try AtomicFile.write("127.0.0.1:9092\n", to: path)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "127.0.0.1:9092\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["bootstrap"])
  }

  @Test("a place where nothing can be written is named, with the reason")
  func refused() throws {
    let path = directory.appendingPathComponent("missing/bootstrap").path
    let error = try #require(throws: OperationError.self) { try AtomicFile.write("x", to: path) }
    #expect(error.place == path)
    #expect(error.what.contains("No such file"))
  }
}
