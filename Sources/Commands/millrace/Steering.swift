// One terminal steers what another one runs: `pause`, `resume` and `stop` are the same for every kind of run.

import ArgumentParser
import Operations

/// Runs of one kind, as far as another terminal may steer them; its flags say where they are.
protocol SteeredRuns: ParsableArguments, Sendable {
  /// The command that begins them.
  static var command: String { get }
  /// A run, as one might type it, and what has to follow.
  static var example: String { get }
  /// What a word does to a run, in a sentence.
  static func meaning(of word: RunVerb) -> String
  /// Says it, and tells what comes of it.
  func steer(_ run: String, _ word: RunVerb, by author: String, on console: Console) async throws
}

struct SteeringOptions<Runs: SteeredRuns>: ParsableArguments {
  @Argument(help: ArgumentHelp("The run, or what only its id begins with.", valueName: "run"))
  var run: String

  @Option(help: ArgumentHelp("Who asks; by default this user.", valueName: "name"))
  var by: String?

  @OptionGroup var runs: Runs

  var author: String { by ?? CommandingOptions.user }
}

/// A command that says one word about one run.
protocol SteeringCommand: AsyncParsableCommand {
  associatedtype Runs: SteeredRuns
  static var word: RunVerb { get }
  var steering: SteeringOptions<Runs> { get }
}

extension SteeringCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: word.rawValue, abstract: Runs.meaning(of: word),
      discussion: """
        Examples:
          millrace \(Runs.command) \(word.rawValue) \(Runs.example)
        """)
  }

  func run() async throws {
    let (steering, word) = (steering, Self.word)
    try await conclude { console in
      try await steering.runs.steer(steering.run, word, by: steering.author, on: console)
      return .success
    }
  }
}

struct PauseCommand<Runs: SteeredRuns>: SteeringCommand {
  static var word: RunVerb { .pause }
  @OptionGroup var steering: SteeringOptions<Runs>
}

struct ResumeCommand<Runs: SteeredRuns>: SteeringCommand {
  static var word: RunVerb { .resume }
  @OptionGroup var steering: SteeringOptions<Runs>
}

struct StopCommand<Runs: SteeredRuns>: SteeringCommand {
  static var word: RunVerb { .stop }
  @OptionGroup var steering: SteeringOptions<Runs>
}
