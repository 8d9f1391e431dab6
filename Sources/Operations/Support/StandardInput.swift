// Reads standard input, whole or by line. Does not use /dev/stdin, which cannot be opened if it is a socket.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Standard input (file descriptor 0).
package enum StandardInput {
  /// Whether standard input is a terminal, so a person can be asked.
  package static var isTerminal: Bool { isatty(0) == 1 }

  /// Reads all bytes.
  ///
  /// - Parameter limit: The maximum number of bytes.
  /// - Throws: ``OperationError`` if there are more bytes, or if reading fails.
  package static func readAll(limit: Int) throws(OperationError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = chunk.withUnsafeMutableBytes { read(0, $0.baseAddress, $0.count) }
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw OperationError(
          .usage, "could not read: \(SystemReason.text(errno))", at: "standard input", remedy: "pass a file instead")
      }
      guard bytes.count + count <= limit else {
        throw OperationError(
          .usage, "the input is larger than \(limit) bytes", at: "standard input", remedy: "pass one token or one body")
      }
      bytes.append(contentsOf: chunk.prefix(count))
    }
  }

  /// Reads one line without its line feed; nil at the end of the input.
  package static func readLine() -> String? { Swift.readLine(strippingNewline: true) }
}
