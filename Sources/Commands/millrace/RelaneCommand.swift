// `millrace topics relane`

import ArgumentParser
import MillraceCore
import Operations

struct RelaneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relane",
    abstract: "Move workers to topics with more lanes.",
    discussion: """
      Use the configuration of the new deployment. It differs from the old one in `topics.prefix` and `topics.lanes`. The \
      new number of lanes must be a multiple of the old one. Copies the ledgers, delayed records, open dead letters and tables. \
      The workers must have handled everything and be stopped. docs/upgrade.md has the whole procedure.

      If the command is interrupted, run it again: it continues where it ended, and copies nothing twice. Run it again, too, \
      if an old worker ran by mistake after the move, before you start the new ones.

      Examples:
        millrace topics relane --from-prefix shop-4. --dry-run
        millrace topics relane --from-prefix shop-4. --yes
      """)

  @Option(help: ArgumentHelp("The prefix of the topics to copy from; may be empty.", valueName: "prefix"))
  var fromPrefix: String

  @Flag(help: "Only show the workers. Exits with 1 while one of them cannot be moved.")
  var dryRun = false

  @Flag(help: "Copy without confirmation, for scripts.")
  var yes = false

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let (fromPrefix, dryRun, yes, output, shared) = (self.fromPrefix, self.dryRun, self.yes, self.output, self.shared)
    try await conclude(finishesOnSignal: true) { console in
      let configuration = try shared.load().configuration
      let kafka = try configuration.cluster(console)
      let prefix = configuration.topics.prefix
      let inputs = try DeployedWorker.all(in: configuration).compactMap { worker in
        worker.inputs.map { (worker.name, $0.map { String($0.dropFirst(prefix.count)) }) }
      }
      let change = try await LaneChange(
        from: fromPrefix, to: configuration, kafka, inputs: Dictionary(inputs) { $1 }
      ) { console.err.note($0) }
      let survey = try await change.survey()
      try console.out.lines(
        output.wantsJSON(console)
          ? survey.jsonLines : survey.lines(width: console.out.width, usesColor: console.out.usesColor))
      if let objection = survey.objection { throw objection }
      guard survey.hasWork, !dryRun else { return .success }
      let approval = try Approval.of(
        isGiven: yes, canAsk: StandardInput.isTerminal,
        question: "Copy to the topics with the prefix \(configuration.topics.prefix)?"
      ) { question in
        console.err.note(question)
        return StandardInput.readLine()
      }
      guard approval == .granted else {
        console.err.note("nothing was copied")
        return .failure
      }
      try await change.carryOut(survey)
      console.err.note("The workers may start with the new topics.")
      return .success
    }
  }
}
