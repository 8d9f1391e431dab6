// Reads the input of a command from FILE or `-`.

internal import MillraceCore

/// Reads the input of a command.
package enum VerifySource {
  /// The bytes of the file at `path`, or of standard input for `-`.
  ///
  /// - Throws: ``OperationError`` of kind `usage` that names the file.
  package static func read(_ path: String) throws(OperationError) -> [UInt8] {
    guard path != "-" else { return try StandardInput.readAll(limit: Verification.inputLimit) }
    do {
      return try Files.read(path, limit: Verification.inputLimit)
    } catch {
      let reasons = error.problems.map(\.what).joined(separator: ", ")
      throw OperationError(.usage, reasons, at: path, remedy: "pass a file with a token, or - for standard input")
    }
  }
}
