// Standard input, read whole or asked for one line. Not through /dev/stdin, which cannot be opened where it is a socket.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// What comes in through file descriptor 0.
public enum StandardInput {
  /// Whether somebody can be asked.
  public static var isTerminal: Bool { isatty(0) == 1 }

  /// Everything up to the end.
  ///
  /// - Parameter limit: the most bytes taken.
  /// - Throws: ``OperationError`` where there is more, or it cannot be read.
  public static func readAll(limit: Int) throws(OperationError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = chunk.withUnsafeMutableBytes { read(0, $0.baseAddress, $0.count) }
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw OperationError(
          .usage, "cannot read it: \(SystemReason.text(errno))", at: "standard input", remedy: "name a file instead")
      }
      guard bytes.count + count <= limit else {
        throw OperationError(
          .usage, "more than \(limit) bytes", at: "standard input", remedy: "hand over one token or one body")
      }
      bytes.append(contentsOf: chunk.prefix(count))
    }
  }

  /// One line without its end; nil at the end of the input.
  public static func readLine() -> String? { Swift.readLine(strippingNewline: true) }
}
