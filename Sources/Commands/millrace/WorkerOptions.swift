// The options of the commands that send requests to a worker.

import ArgumentParser
import MillraceTime
import KafkaClient
import MillraceWorker
import Operations

struct WorkerOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The worker, by its name under `workers` in the configuration.", valueName: "name"))
  var worker: String

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func operations(author: String = "", console: Console) async throws -> WorkerOperations {
    let configuration = try shared.load().configuration
    try configuration.check(worker: worker)
    return try WorkerOperations(
      worker: worker, prefix: configuration.topics.prefix, on: try await configuration.connect(console), author: author,
      note: console.noteOnce)
  }
}

extension WorkerOptions: SteeredRuns {
  static var command: String { "dead-letters" }
  static var example: String { "1f0c --worker winback" }

  static func meaning(of verb: RunVerb) -> String {
    switch verb {
    case .pause: "Pause a requeue or discard run."
    case .resume: "Resume a requeue or discard run."
    case .stop: "Stop a requeue or discard run; commands not sent yet are dropped."
    }
  }

  func steer(_ run: String, _ verb: RunVerb, by author: String, on console: Console) async throws {
    let isEnded = try await operations(author: author, console: console).control(run, verb)
    let words =
      switch verb {
      case .stop where isEnded: "ended the run: its process is gone; commands it had sent remain in effect"
      case .stop: "sent the stop; if the run's process is gone, repeat this in a minute"
      case .pause, .resume: "\(verb.rawValue): said"
      }
    console.err.note(words)
  }
}

struct CommandingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How long to wait without an answer from the worker, or until when; commands remain in effect.",
      valueName: "duration"))
  var wait = TimeArgument(age: .seconds(30))

  @Option(
    help: ArgumentHelp("The operator, shown to others; by default this user.", valueName: "name"))
  var by: String?

  func validate() throws { try wait.check() }

  var patience: Duration { wait.wait }

  var author: String { get throws { try Self.author(by) } }

  /// Returns the operator's name: the value of `--by`, or the user of this process.
  /// - Throws: ``OperationError`` if neither is known, as in a container.
  static func author(_ by: String?) throws(OperationError) -> String {
    let environment = ProcessEnvironment.current
    for name in [by, environment["USER"], environment["LOGNAME"]] {
      if let name, !name.allSatisfy(\.isWhitespace) { return name }
      if by != nil { break }
    }
    throw OperationError(
      .usage, "the operator has no name, and USER is not set", at: "--by",
      remedy: "pass your name with --by; the audit trail has it")
  }
}
