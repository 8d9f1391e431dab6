// The output of a command. Its properties (colour, width, terminal or not) are determined once and passed as values, so
// all rendering is pure.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// An output for lines of text, and its capabilities.
package struct Output: Sendable {
  /// Whether the output is a terminal.
  package let isTerminal: Bool
  /// The number of columns of the terminal; nil if lines are unlimited.
  package let width: Int?
  /// Whether to use colour.
  package let usesColor: Bool

  private let write: @Sendable ([UInt8]) throws(OperationError) -> Void

  /// Creates an output with a custom writer.
  ///
  /// - Parameter write: Receives complete lines, each with its line feed.
  package init(
    isTerminal: Bool = false, width: Int? = nil, usesColor: Bool = false,
    write: @escaping @Sendable ([UInt8]) throws(OperationError) -> Void
  ) {
    self.isTerminal = isTerminal
    self.width = width
    self.usesColor = usesColor
    self.write = write
  }

  /// Standard output, for results.
  package static func standardOutput(environment: [String: String]) -> Output {
    Output(descriptor: 1, environment: environment)
  }

  /// Standard error, for progress and problems.
  package static func standardError(environment: [String: String]) -> Output {
    Output(descriptor: 2, environment: environment)
  }

  private init(descriptor: Int32, environment: [String: String]) {
    let isTerminal = isatty(descriptor) == 1
    self.init(
      isTerminal: isTerminal, width: isTerminal ? Self.columns(of: descriptor) : nil,
      usesColor: Self.wantsColor(isTerminal: isTerminal, environment: environment)
    ) { bytes throws(OperationError) in
      let error = FileDescriptorOutput.write(bytes, to: descriptor)
      guard error != 0 else { return }
      if error == EPIPE {
        throw OperationError(.outputClosed, "the reader closed it", at: "standard output", remedy: "nothing to do")
      }
      throw OperationError(
        .failed, "could not write: \(SystemReason.text(error))", at: "standard output", remedy: "free some space")
    }
  }

  /// Whether to use colour: on a terminal that supports it, unless `NO_COLOR` (https://no-color.org) is set.
  package static func wantsColor(isTerminal: Bool, environment: [String: String]) -> Bool {
    isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  private static func columns(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes one line.
  /// - Throws: ``OperationError`` of kind `outputClosed` if the reader closed the output.
  package func line(_ text: String) throws(OperationError) { try lines([text]) }

  /// Writes several lines in one call.
  /// - Throws: ``OperationError`` of kind `outputClosed` if the reader closed the output.
  package func lines(_ texts: [String]) throws(OperationError) {
    guard !texts.isEmpty else { return }
    var bytes: [UInt8] = []
    for text in texts {
      bytes.append(contentsOf: text.utf8)
      bytes.append(UInt8(ascii: "\n"))
    }
    try write(bytes)
  }

  /// Writes text without adding line feeds.
  /// - Throws: ``OperationError`` of kind `outputClosed` if the reader closed the output.
  package func text(_ text: String) throws(OperationError) { try write(Array(text.utf8)) }

  /// Writes an optional message. A closed standard error does not end the command.
  package func note(_ text: String) {
    do {
      try line(text)
    } catch {
      // The message is optional.
    }
  }
}
