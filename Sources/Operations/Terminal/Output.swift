// Where a command's lines go. What depends on the place (colour, width, JSON or text) is decided here once and carried
// as values, so that everything that renders is pure.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A place for lines of text, and what it can show.
public struct Output: Sendable {
  /// Whether a person sees it.
  public let isTerminal: Bool
  /// Columns of the terminal; nil where lines have no end.
  public let width: Int?
  /// Whether colour is wanted.
  public let usesColor: Bool

  private let write: @Sendable ([UInt8]) throws(OperationError) -> Void

  /// A place of any making.
  ///
  /// - Parameter write: takes whole lines, each with its line feed.
  public init(
    isTerminal: Bool = false, width: Int? = nil, usesColor: Bool = false,
    write: @escaping @Sendable ([UInt8]) throws(OperationError) -> Void
  ) {
    self.isTerminal = isTerminal
    self.width = width
    self.usesColor = usesColor
    self.write = write
  }

  /// Standard output: results.
  public static func standardOutput(environment: [String: String]) -> Output {
    Output(descriptor: 1, environment: environment)
  }

  /// Standard error: progress and problems.
  public static func standardError(environment: [String: String]) -> Output {
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
        throw OperationError(.outputClosed, "the reader is gone", at: "standard output", remedy: "nothing to do")
      }
      throw OperationError(
        .failed, "cannot write: \(SystemReason.text(error))", at: "standard output", remedy: "free some space")
    }
  }

  /// Whether colour is wanted: on a terminal that knows it, unless `NO_COLOR` (https://no-color.org) says otherwise.
  public static func wantsColor(isTerminal: Bool, environment: [String: String]) -> Bool {
    isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  private static func columns(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes one line.
  /// - Throws: ``OperationError`` of kind `outputClosed` where the reader is gone.
  public func line(_ text: String) throws(OperationError) { try lines([text]) }

  /// Writes lines in one piece.
  /// - Throws: ``OperationError`` of kind `outputClosed` where the reader is gone.
  public func lines(_ texts: [String]) throws(OperationError) {
    guard !texts.isEmpty else { return }
    var bytes: [UInt8] = []
    for text in texts {
      bytes.append(contentsOf: text.utf8)
      bytes.append(UInt8(ascii: "\n"))
    }
    try write(bytes)
  }

  /// Writes text as it is: a page that brings its own line feeds.
  /// - Throws: ``OperationError`` of kind `outputClosed` where the reader is gone.
  public func text(_ text: String) throws(OperationError) { try write(Array(text.utf8)) }

  /// Says something that nobody has to hear: a closed standard error ends no command.
  public func note(_ text: String) {
    do {
      try line(text)
    } catch {
      // Whoever closed it does not want to know.
    }
  }
}
