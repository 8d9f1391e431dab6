// Writes a new package, and touches nothing that is there.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension ConsumerPackage {
  /// Writes every file below `directory`, which must not exist or be empty.
  /// - Throws: ``OperationError`` that names the file.
  public func write(to directory: String) throws(OperationError) {
    let manager = FileManager.default
    if manager.fileExists(atPath: directory) {
      let present: [String]
      do {
        present = try manager.contentsOfDirectory(atPath: directory)
      } catch {
        throw OperationError(
          .failed, "it is no directory, or this user may not read it", at: directory,
          remedy: "name a new one with --directory")
      }
      guard present.isEmpty else {
        throw OperationError(
          .failed, "the directory is not empty", at: directory, remedy: "name a new one with --directory")
      }
    }
    for file in files {
      let path = "\(directory)/\(file.path)"
      let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
      do {
        try manager.createDirectory(atPath: parent, withIntermediateDirectories: true)
      } catch {
        throw OperationError(
          .failed, "cannot make the directory", at: parent, remedy: "check the path and that this user may write there")
      }
      try AtomicFile.write(file.text, to: path)
    }
  }
}
