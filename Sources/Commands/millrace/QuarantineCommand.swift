// `millrace quarantine list` and `millrace quarantine resubmit`

import Clocks
import ArgumentParser
import Kafka
import Millrace
import Operations

struct QuarantineCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "quarantine",
    abstract: "Look at bodies that the ingress refused though they may be genuine, and admit them.",
    discussion: """
      Examples:
        millrace quarantine list
        millrace quarantine resubmit --all --dry-run
        millrace quarantine resubmit --id 3b0c44298fc1c149
      """,
    subcommands: [List.self, Resubmit.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show what is in the quarantine, each body once.",
      discussion: """
        A table in a terminal, JSON lines when piped.

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
        let kafka = try configuration.kafka.outsideClient()
        let inventory = try await inventory(
          of: try QuarantineOperation(kafka, catalog: catalog), at: kafka, telling: console)
        let out = console.out
        if output.wantsJSON(console) {
          // No line at all would leave open whether it was read.
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
      abstract: "Judge bodies again by the present configuration, and write those that are admitted now.",
      discussion: """
        Records are as the ingress would have written them, with the same ce_id: what was written already does no harm. \
        The quarantine stays as it is; its retention empties it.

        Ends with 1 when Kafka did not take a record, or a body named by --id is still refused.

        Examples:
          millrace quarantine resubmit --all --dry-run
          millrace quarantine resubmit --id 3b0c44298fc1c149 --id 60303ae22b998861
        """)

    @Flag(help: "Every body.")
    var all = false

    @Option(help: ArgumentHelp("A body by its id, or the first 8 or more characters of it.", valueName: "id"))
    var id: [String] = []

    @Flag(help: "Say what would happen, write nothing.")
    var dryRun = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func validate() throws {
      if all == !id.isEmpty { throw ValidationError("Name bodies with --id, or pass --all; one of the two.") }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let configuration = try command.shared.load().configuration
        let catalog = try TopicCatalog.load(configuration)
        let kafka = try configuration.kafka.outsideClient()
        let operation = try QuarantineOperation(kafka, catalog: catalog)
        let readmission = try Readmission(configuration, clock: MillraceClock(configuration.clock))
        let inventory = try await inventory(of: operation, at: kafka, telling: console)
        let ids = try inventory.ids(matching: command.all ? nil : command.id)
        let reporter = Reporter<ResubmissionOutcome>(console.out, asJSON: command.output.wantsJSON(console))
        let summary = try await operation.resubmit(
          ids, by: readmission, router: catalog.router, isDryRun: command.dryRun, report: reporter.report)
        console.err.note(summary.sentence(isDryRun: command.dryRun))
        return summary.status(named: !command.all)
      }
    }
  }
}

private func inventory(
  of operation: QuarantineOperation, at kafka: KafkaConfiguration, telling console: Console
) async throws -> QuarantineInventory {
  console.err.note(kafka.connecting)
  return try await operation.inventory { console.err.note("reading the quarantine") }
}
