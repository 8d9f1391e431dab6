// What the commands that speak to a worker have in common.

import ArgumentParser
import Clocks
import Kafka
import Millrace
import Operations

struct WorkerOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The worker, by its name under `workers` in the configuration.", valueName: "name"))
  var worker: String

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func operations(author: String = "", telling console: Console) async throws -> WorkerOperations {
    let configuration = try shared.load().configuration
    let kafka = try configuration.kafka.outsideClient()
    console.err.note(kafka.connecting)
    return try await WorkerOperations.connect(
      worker: worker, configuration, kafka, author: author, note: console.noteOnce)
  }
}

extension WorkerOptions: SteeredRuns {
  static var command: String { "dead-letters" }
  static var example: String { "1f0c --worker winback" }

  static func meaning(of word: RunVerb) -> String {
    switch word {
    case .pause: "Let a requeue or discard of many wait."
    case .resume: "Let a requeue or discard of many go on."
    case .stop: "End a requeue or discard of many: what was not asked for yet stays open."
    }
  }

  func steer(_ run: String, _ word: RunVerb, by author: String, on console: Console) async throws {
    let isEnded = try await operations(author: author, telling: console).control(run, word)
    let words =
      switch word {
      case .stop where isEnded: "its process is gone: it is ended, and what it had asked for stands"
      case .stop: "stop: said; where its process is gone, say it again in a minute"
      case .pause, .resume: "\(word.rawValue): said"
      }
    console.err.note(words)
  }
}

struct CommandingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How long the worker may be silent before this gives up waiting; the command stands all the same.",
      valueName: "duration"))
  var wait = "30s"

  @Option(
    help: ArgumentHelp("Who asks; by default this user. Others read it when they come second.", valueName: "name"))
  var by: String?

  func validate() throws {
    guard let wait = DurationText.parse(wait), wait > .zero else {
      throw ValidationError("--wait is a duration above 0, such as 30s or 5m.")
    }
  }

  var patience: Duration { DurationText.parse(wait) ?? .seconds(30) }

  var author: String { by ?? Self.user }

  /// Who runs this process.
  static var user: String {
    let environment = ProcessEnvironment.current
    return environment["USER"] ?? environment["LOGNAME"] ?? "unknown"
  }
}
