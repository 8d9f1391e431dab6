// FILE or `-`, as commands take their input.

internal import Millrace

/// Reads what a command is handed.
public enum VerifySource {
  /// The bytes of the file at `path`; of standard input for `-`.
  ///
  /// - Throws: ``OperationError`` of kind `usage` that names the file.
  public static func read(_ path: String) throws(OperationError) -> [UInt8] {
    guard path != "-" else { return try StandardInput.readAll(limit: Verification.inputLimit) }
    do {
      return try Files.read(path, limit: Verification.inputLimit)
    } catch {
      let reasons = error.problems.map(\.what).joined(separator: ", ")
      throw OperationError(.usage, reasons, at: path, remedy: "name a file with a token, or - for standard input")
    }
  }
}
