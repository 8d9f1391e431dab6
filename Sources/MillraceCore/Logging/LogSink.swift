#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A destination of log lines. It accepts whole lines, including the newline, from any thread.
package struct LogSink: Sendable {
  private let writeLine: @Sendable ([UInt8]) -> Void

  /// Creates a sink that passes lines to `write`.
  package init(_ write: @escaping @Sendable ([UInt8]) -> Void) { writeLine = write }

  /// Writes one line.
  package func write(_ line: [UInt8]) { writeLine(line) }

  /// The standard error stream. Each line is written in one call, so that lines of different threads and processes do
  /// not mix. Standard output is reserved for the output of commands.
  package static let standardError = LogSink { line in
    line.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = systemWrite(UnsafeRawBufferPointer(rebasing: rest))
        // A log that cannot be written (closed pipe, full disk) must not stop the process.
        if count < 0, errno != EINTR { return }
        rest = rest.dropFirst(max(0, count))
      }
    }
  }

  /// Whether the standard error stream is a terminal.
  package static var isTerminal: Bool { isatty(2) == 1 }
}

// Outside the type, whose own `write` would hide the system call.
private func systemWrite(_ bytes: UnsafeRawBufferPointer) -> Int {
  write(2, bytes.baseAddress, bytes.count)
}
