// Files that somebody waits for: they appear whole or not at all.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Writes small files by renaming, so that a reader never sees half of one.
public enum AtomicFile {
  /// Writes `text` to `path`, replacing what was there.
  ///
  /// - Throws: ``OperationError`` that names the file and the system's reason.
  public static func write(_ text: String, to path: String) throws(OperationError) {
    // The process's number keeps two writers apart; beside the target, because renaming works inside a file system only.
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
      .failed, "cannot write it: \(SystemReason.text(errno))", at: path,
      remedy: "check the path and that this user may write there")
  }
}
