// What every command has: the configuration, and one way to end.

import ArgumentParser
import Millrace
import Operations
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct SharedOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("The configuration file; without it, the one that MILLRACE_CONFIG names.", valueName: "file"))
  var config: String?

  /// The configuration of this command.
  func load() throws(MillraceError) -> LoadedConfiguration {
    try EffectiveConfiguration.load(option: config, environment: ProcessEnvironment.current)
  }

  /// The configuration where a file was named; nil where none was.
  func loadIfNamed() throws(MillraceError) -> MillraceConfiguration? {
    let file = EffectiveConfiguration.file(option: config, environment: ProcessEnvironment.current)
    return file == nil ? nil : try load().configuration
  }
}

/// How results are printed.
struct OutputOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: "JSON lines, or text for people; by default what suits the output.")
  var json: Bool?

  func wantsJSON(_ console: Console) -> Bool { json ?? !console.out.isTerminal }
}

/// Standard output and standard error of this process.
struct Console: Sendable {
  let out = Output.standardOutput(environment: ProcessEnvironment.current)
  let err = Output.standardError(environment: ProcessEnvironment.current)
  private let told = Told()

  private final class Told: Sendable {
    let notes = Mutex<Set<String>>([])
  }

  /// Says something on standard error, however often it is to be said.
  @Sendable func noteOnce(_ text: String) {
    if told.notes.withLock({ $0.insert(text).inserted }) { err.note(text) }
  }
}

extension AsyncParsableCommand {
  /// Runs a command's work and ends the process by what it returns or throws.
  ///
  /// - Parameter finishesOnSignal: SIGINT and SIGTERM cancel the work, which then ends by itself. For commands that run
  ///   for long; others simply end, wherever they wait.
  func conclude(
    finishesOnSignal: Bool = false, _ work: @escaping @Sendable (Console) async throws -> CommandStatus
  ) async throws {
    // A reader that leaves shows as an error of `write`, not as a signal that kills us half-way.
    signal(SIGPIPE, SIG_IGN)
    let console = Console()
    let status: CommandStatus
    do {
      status =
        finishesOnSignal
        ? try await Interruption.cancelling { try await work(console) } : try await work(console)
    } catch {
      let report = FailureReport(error)
      let color = console.err.usesColor
      for line in report.lines {
        console.err.note(TextStyle.red.applied(to: "error:", usesColor: color) + " " + TerminalText.safe(line))
      }
      status = report.status
    }
    if status != .success { throw ExitCode(status.rawValue) }
  }
}
