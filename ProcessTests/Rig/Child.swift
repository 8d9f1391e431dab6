// A child process that may be killed at any time.

internal import Foundation
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

package final class Child: Sendable {
  /// The way a process ended.
  package enum End: Sendable, Hashable, CustomStringConvertible {
    case exit(Int32)
    case signal(Int32)

    /// Killed with SIGKILL.
    package static let killed = End.signal(SIGKILL)

    package var description: String {
      switch self {
      case .exit(let status): "status \(status)"
      case .signal(let signal): "signal \(signal)"
      }
    }
  }

  /// A signal that a scenario sends.
  package enum Signal: Sendable {
    case kill, terminate, pause, resume

    fileprivate var number: Int32 {
      switch self {
      case .kill: SIGKILL
      case .terminate: SIGTERM
      case .pause: SIGSTOP
      case .resume: SIGCONT
      }
    }
  }

  package let pid: Int32
  /// The file for its output, or only for its standard error.
  package let log: String
  private let ending: Ending

  /// Starts a program.
  /// - Parameter answer: The file for its standard output; nil: the log.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], log: String, answer: String? = nil
  ) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let errors = try Self.file(log)
    let output = try answer.map { try Self.file($0) } ?? errors
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    let ending = Ending()
    process.terminationHandler = { process in
      ending.resolve(
        process.terminationReason == .exit ? .exit(process.terminationStatus) : .signal(process.terminationStatus))
    }
    try process.run()
    try errors.close()
    if answer != nil { try output.close() }
    pid = process.processIdentifier
    self.log = log
    self.ending = ending
  }

  private static func file(_ path: String) throws -> FileHandle {
    try Data().write(to: URL(fileURLWithPath: path))
    return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }

  /// How the process ended; nil while it is running.
  package var end: End? { ending.known }

  /// Whether the process has written a text to its log.
  package func hasLogged(_ text: String) throws -> Bool {
    try String(contentsOfFile: log, encoding: .utf8).utf8.firstRange(of: text.utf8) != nil
  }

  /// Sends a signal, unless the process has ended.
  package func send(_ signal: Signal) { if end == nil { _ = kill(pid, signal.number) } }

  /// Waits for the process to end.
  package func wait() async -> End {
    if let end { return end }
    return await OpenWaits.during("process \(pid) to end, whose log is \(log)") { await ending.wait() }
  }

  /// Sends a signal and waits for the process to end.
  @discardableResult
  package func end(by signal: Signal) async -> End {
    send(signal)
    return await wait()
  }

  /// The end of a process. Set once, awaited by any number of tasks.
  private final class Ending: Sendable {
    private struct State {
      var end: End?
      var waiting: [CheckedContinuation<End, Never>] = []
    }

    private let state = Mutex(State())

    var known: End? { state.withLock { $0.end } }

    func resolve(_ end: End) {
      let waiting = state.withLock { state in
        defer { (state.end, state.waiting) = (end, []) }
        return state.waiting
      }
      for continuation in waiting { continuation.resume(returning: end) }
    }

    func wait() async -> End {
      await withCheckedContinuation { continuation in
        let end = state.withLock { state in
          if state.end == nil { state.waiting.append(continuation) }
          return state.end
        }
        if let end { continuation.resume(returning: end) }
      }
    }
  }
}
