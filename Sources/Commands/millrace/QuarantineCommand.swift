// `millrace quarantine list` and `millrace quarantine resubmit`

import AppStore
import ArgumentParser
import KafkaClient
import MillraceRecords
import Operations
import MillraceCore
import MillraceTime

struct QuarantineCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "quarantine",
    abstract: "List bodies that the ingress refused but that may be genuine, and resubmit them.",
    discussion: """
      Examples:
        millrace quarantine list
        millrace quarantine resubmit --all --dry-run
        millrace quarantine resubmit --id 3b0c44298fc1c149
      """,
    subcommands: [List.self, Resubmit.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the quarantine, each body once.",
      discussion: """
        Prints a table on a terminal and JSON lines to a pipe.

        Examples:
          millrace quarantine list
          millrace quarantine list --json | jq 'select(.reason == "chain")'
        """)

    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func run() async throws {
      let (output, shared) = (self.output, self.shared)
      try await conclude { console in
        let configuration = try shared.load().configuration
        let catalog = try TopicCatalog.load(configuration)
        let kafka = try configuration.cluster(console)
        let inventory = try await inventory(
          of: try QuarantineOperation(kafka, catalog: catalog), console: console)
        let out = console.out
        if output.wantsJSON(console) {
          // Report an empty quarantine: no output at all could mean that nothing was read.
          if inventory.entries.isEmpty { console.err.note(QuarantineTable.summary(inventory)) }
          try out.lines(QuarantineTable.jsonLines(inventory))
        } else {
          try out.lines(QuarantineTable.lines(inventory, lineWidth: out.width, usesColor: out.usesColor))
        }
        return .success
      }
    }
  }

  struct Resubmit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Verify bodies again with the current configuration, and write those now admitted.",
      discussion: """
        Writes the records that the ingress would have written, with the same ce_id, so duplicates are harmless. The \
        quarantine does not change; its retention empties it.

        The audit trail has a line for it (millrace audit). Exits with 1 if a record could not be written to Kafka, or if \
        a body named with --id is still refused.

        Examples:
          millrace quarantine resubmit --all --dry-run
          millrace quarantine resubmit --id 3b0c44298fc1c149 --id 60303ae22b998861 --by ann
        """)

    @Flag(help: "All bodies.")
    var all = false

    @Option(help: ArgumentHelp("The ID of a body, or at least its first 8 characters.", valueName: "id"))
    var id: [String] = []

    @Flag(help: "Show what would happen, without writing.")
    var dryRun = false

    @Option(help: ArgumentHelp("The operator; by default this user.", valueName: "name"))
    var by: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func validate() throws {
      if all == !id.isEmpty { throw ValidationError("Pass either --id or --all.") }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let author = command.dryRun ? "" : try CommandingOptions.author(command.by)
        let configuration = try command.shared.load().configuration
        let catalog = try TopicCatalog.load(configuration)
        let kafka = try configuration.cluster(console)
        let clock = MillraceClock(configuration.clock)
        let operation = try QuarantineOperation(kafka, catalog: catalog, clock: clock)
        let readmission = try Readmission(configuration, clock: clock)
        let inventory = try await inventory(of: operation, console: console)
        let ids = try inventory.ids(matching: command.all ? nil : command.id)
        let reporter = Reporter<ResubmissionOutcome>(console.out, asJSON: command.output.wantsJSON(console))
        let summary: ResubmissionSummary
        if command.dryRun {
          summary = try await operation.resubmit(ids, by: readmission, isDryRun: true, report: reporter.report)
        } else {
          let log = try await KafkaLog.connect(kafka, timeout: .seconds(15))
          summary = try await operation.resubmit(
            ids, by: readmission, author: author, recordedIn: AuditLog(on: log, prefix: configuration.topics.prefix),
            report: reporter.report)
        }
        console.err.note(summary.sentence(isDryRun: command.dryRun))
        return summary.status(named: !command.all)
      }
    }
  }
}

private func inventory(
  of operation: QuarantineOperation, console: Console
) async throws -> QuarantineInventory {
  try await operation.inventory { console.err.note("reading the quarantine") }
}
