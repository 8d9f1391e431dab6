import Foundation
import Operations
import Testing

@Suite("Atomic file writes")
struct AtomicFileTests {
  private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("atomic-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

  @Test("a file replaces the previous one and leaves no other files")
  func replaces() throws {
    let path = directory.appendingPathComponent("bootstrap").path
    try AtomicFile.write("old\n", to: path)
    try AtomicFile.write("127.0.0.1:9092\n", to: path)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "127.0.0.1:9092\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["bootstrap"])
  }

  @Test("the error for an unwritable path contains the path and the reason")
  func refused() throws {
    let path = directory.appendingPathComponent("missing/bootstrap").path
    let error = try #require(throws: OperationError.self) { try AtomicFile.write("x", to: path) }
    #expect(error.place == path)
    #expect(error.what.contains("No such file"))
  }
}
