// What the commands that speak to a worker have in common.

import ArgumentParser
import Clocks
import Kafka
import Millrace
import Operations

struct WorkerOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The worker, by its name under `workers` in the configuration.", valueName: "name"))
  var worker: String

  @Flag(inversion: .prefixedNo, help: "JSON lines, or a table; by default what suits the output.")
  var json: Bool?

  @OptionGroup var shared: SharedOptions

  func operations(author: String = "", telling console: Console) async throws -> WorkerOperations {
    let configuration = try shared.load().configuration
    let kafka = try configuration.kafka.outsideClient()
    console.err.note(kafka.connecting)
    return try await WorkerOperations.connect(worker: worker, configuration, kafka, author: author)
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
