// `millrace replay`

import ArgumentParser
import Millrace
import Operations

struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Send records of one partition to one worker again.",
    discussion: """
      The worker itself sends them to its replay topic, behind live traffic, so it has to run. What it has handled is \
      skipped. With --reapply handlers run again: only events that differ are published, under new ids that name the old \
      ones, and no effect is caused twice.

      Ends when all are sent, which is before all are handled: millrace_worker_lag_records of the replay topic says how \
      far that is. Ends with 1 when it failed or the worker was silent for too long; it goes on when the worker does.

      Examples:
        millrace replay --worker winback --topic appstore.notifications.subscriptions --partition 3 --from 100 --to 200
        millrace replay --worker winback --topic appstore.notifications.subscriptions --partition 3 --from 100 \
      --to 200 --reapply "the price was wrong until 14:00"
      """)

  @Option(help: ArgumentHelp("The topic, by its name in Kafka.", valueName: "name"))
  var topic: String

  @Option(help: ArgumentHelp("The partition.", valueName: "number"))
  var partition: Int32

  @Option(help: ArgumentHelp("The first offset.", valueName: "offset"))
  var from: Int64

  @Option(help: ArgumentHelp("The offset behind the last.", valueName: "offset"))
  var to: Int64

  @Option(help: ArgumentHelp("Run handlers again for what is done, and why.", valueName: "why"))
  var reapply: String?

  @OptionGroup var commanding: CommandingOptions
  @OptionGroup var options: WorkerOptions

  func validate() throws {
    if let reapply, reapply.allSatisfy(\.isWhitespace) {
      throw ValidationError("--reapply says why, for whoever asks later.")
    }
  }

  func run() async throws {
    let command = self
    try await conclude(finishesOnSignal: true) { console in
      let operations = try await command.options.operations(author: command.commanding.author, telling: console)
      let reporter = OperationReporter(console.out, asJSON: command.options.json ?? !console.out.isTerminal)
      let request = ReplayRequest(
        topic: command.topic, partition: command.partition, from: command.from, to: command.to,
        reapply: command.reapply)
      let summary = try await operations.replay(
        request, patience: command.commanding.patience, report: reporter.report)
      console.err.note(summary.sentence)
      return summary.status
    }
  }
}
