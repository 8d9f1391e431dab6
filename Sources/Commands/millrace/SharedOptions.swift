// The options and the exit path of every command.

import ArgumentParser
import KafkaClient
import MillraceCore
import MillraceRecords
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
    help: ArgumentHelp("The configuration file; by default the one in MILLRACE_CONFIG.", valueName: "file"))
  var config: String?

  /// The configuration of this command.
  func load() throws(MillraceError) -> LoadedConfiguration {
    try EffectiveConfiguration.load(
      option: config, environment: ProcessEnvironment.current, workers: ShippedWorkers.forms)
  }

  /// The configuration, or nil if no file is named.
  func loadIfNamed() throws(MillraceError) -> MillraceConfiguration? {
    let file = EffectiveConfiguration.file(option: config, environment: ProcessEnvironment.current)
    return file == nil ? nil : try load().configuration
  }
}

extension MillraceConfiguration {
  /// The cluster, which a command reaches from outside of it. Standard error names it, and says so while it does not
  /// answer.
  func cluster(_ console: Console) throws(MillraceError) -> KafkaConfiguration {
    try kafka.outsideClient().reporting { console.err.note($0) }
  }

  /// Connects to the cluster.
  /// - Throws: ``MillraceError`` for invalid properties; `KafkaError` if no broker answers within 15 s.
  func connect(_ console: Console) async throws -> KafkaLog {
    let kafka = try cluster(console)
    return KafkaLog(kafka, cluster: try await kafka.describeCluster(timeout: .seconds(15)))
  }
}

/// The output format.
struct OutputOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: "JSON lines, or text for people; by default text on a terminal.")
  var json: Bool?

  func wantsJSON(_ console: Console) -> Bool { json ?? !console.out.isTerminal }
}

/// Standard output and standard error of this process.
struct Console: Sendable {
  let out = Output.standardOutput(environment: ProcessEnvironment.current)
  let err = Output.standardError(environment: ProcessEnvironment.current)
  private let warningsShown = WarningsShown()

  private final class WarningsShown: Sendable {
    let notes = Mutex<Set<String>>([])
  }

  /// Prints a message on standard error once, however often this is called with it.
  @Sendable func noteOnce(_ text: String) {
    if warningsShown.notes.withLock({ $0.insert(text).inserted }) { err.note(text) }
  }
}

extension AsyncParsableCommand {
  /// Runs a command and ends the process with the status that it returns or throws.
  ///
  /// - Parameter finishesOnSignal: Whether SIGINT and SIGTERM cancel the work, which then ends by itself. For
  ///   long-running commands; others end immediately.
  func conclude(
    finishesOnSignal: Bool = false, _ work: @escaping @Sendable (Console) async throws -> CommandStatus
  ) async throws {
    // With SIGPIPE ignored, a closed reader shows as a write error.
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
