// Writes files that other processes wait for, so they appear complete or not at all.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Writes small files and renames them, so a reader never sees a partial file.
package enum AtomicFile {
  /// Writes `text` to `path`, replacing an existing file.
  ///
  /// - Throws: ``OperationError`` that names the file and the system's reason.
  package static func write(_ text: String, to path: String) throws(OperationError) {
    // The process ID keeps two writers apart. Same directory as the target, because a rename cannot cross file systems.
    let temporary = "\(path).\(getpid()).tmp"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure(path) }
    let written = FileDescriptorOutput.write(Array(text.utf8), to: descriptor)
    let closed = close(descriptor)
    guard written == 0, closed == 0, rename(temporary, path) == 0 else {
      if written != 0 { errno = written }
      let error = failure(path)
      unlink(temporary)
      throw error
    }
  }

  private static func failure(_ path: String) -> OperationError {
    OperationError(
      .failed, "could not write the file: \(SystemReason.text(errno))", at: path,
      remedy: "check the path and that this user may write to it")
  }
}
