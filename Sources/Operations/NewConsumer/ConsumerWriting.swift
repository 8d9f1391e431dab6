// Writes a new package without overwriting anything.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension ConsumerPackage {
  /// Writes all files to `directory`, which must be empty or not exist.
  /// - Throws: ``OperationError`` that names the file.
  package func write(to directory: String) throws(OperationError) {
    let manager = FileManager.default
    if manager.fileExists(atPath: directory) {
      let present: [String]
      do {
        present = try manager.contentsOfDirectory(atPath: directory)
      } catch {
        throw OperationError(
          .failed, "the path is not a directory or not readable", at: directory,
          remedy: "choose another path with --directory")
      }
      guard present.isEmpty else {
        throw OperationError(
          .failed, "the directory is not empty", at: directory, remedy: "choose another path with --directory")
      }
    }
    for file in files {
      let path = "\(directory)/\(file.path)"
      let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
      do {
        try manager.createDirectory(atPath: parent, withIntermediateDirectories: true)
      } catch {
        throw OperationError(
          .failed, "could not create the directory", at: parent, remedy: "check the path and its permissions")
      }
      try AtomicFile.write(file.text, to: path)
    }
  }
}
