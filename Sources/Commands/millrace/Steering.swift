// The commands `pause`, `resume` and `stop`, which control a run of another process. They are the same for all runs.

import ArgumentParser
import MillraceWorker
import Operations

/// A kind of run that another terminal can control, with the flags to find it.
protocol SteeredRuns: ParsableArguments, Sendable {
  /// The command that starts such a run.
  static var command: String { get }
  /// Example arguments: a run and the flags that follow it.
  static var example: String { get }
  /// A sentence that describes a request.
  static func meaning(of verb: RunVerb) -> String
  /// Sends a request to a run and prints the result.
  func steer(_ run: String, _ verb: RunVerb, by author: String, on console: Console) async throws
}

struct SteeringOptions<Runs: SteeredRuns>: ParsableArguments {
  @Argument(help: ArgumentHelp("The run's ID or a unique prefix of it.", valueName: "run"))
  var run: String

  @Option(help: ArgumentHelp("The operator; by default this user.", valueName: "name"))
  var by: String?

  @OptionGroup var runs: Runs

  var author: String { get throws { try CommandingOptions.author(by) } }
}

/// A command that sends one request to one run.
protocol SteeringCommand: AsyncParsableCommand {
  associatedtype Runs: SteeredRuns
  static var verb: RunVerb { get }
  var steering: SteeringOptions<Runs> { get }
}

extension SteeringCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: verb.rawValue, abstract: Runs.meaning(of: verb),
      discussion: """
        Examples:
          millrace \(Runs.command) \(verb.rawValue) \(Runs.example)
        """)
  }

  func run() async throws {
    let (steering, verb) = (steering, Self.verb)
    try await conclude { console in
      try await steering.runs.steer(steering.run, verb, by: try steering.author, on: console)
      return .success
    }
  }
}

struct PauseCommand<Runs: SteeredRuns>: SteeringCommand {
  static var verb: RunVerb { .pause }
  @OptionGroup var steering: SteeringOptions<Runs>
}

struct ResumeCommand<Runs: SteeredRuns>: SteeringCommand {
  static var verb: RunVerb { .resume }
  @OptionGroup var steering: SteeringOptions<Runs>
}

struct StopCommand<Runs: SteeredRuns>: SteeringCommand {
  static var verb: RunVerb { .stop }
  @OptionGroup var steering: SteeringOptions<Runs>
}
