// `millrace compare`

import AppStore
import ArgumentParser
import Forward
import MillraceTime
import MillraceCore
import MillraceRecords
import Operations

struct CompareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compare another receiver's notifications with the topics.",
    discussion: """
      FILE has one notification per line, in the order the receiver got them: the body as posted, the token \
      (signedPayload), or only the notificationUUID. Prints one difference per line, separated by tabs: missing (in \
      the topics, not at the receiver), unknown (at the receiver, not in the topics), bytes (different bytes), order \
      (before an earlier one of the same key). The summary goes to standard error. Exits with 0 if nothing differs, \
      otherwise with 1.

      Examples:
        millrace compare received.jsonl
        millrace compare --receiver old --since 2026-01-31T00:00:00Z --until 2026-02-01T00:00:00Z received.jsonl
        psql -Atc 'select notification_uuid from notifications order by id' | millrace compare -
      """)

  @Option(
    help: ArgumentHelp("Only notifications for this receiver, of the worker `forward-<receiver>`.", valueName: "name"))
  var receiver: String?

  @Option(
    help: ArgumentHelp(
      "Only records written to the topics at or after this time: \(TimeArgument.forms).", valueName: "time"))
  var since: TimeArgument?

  @Option(
    help: ArgumentHelp("Only records written to the topics before this time, in the same forms.", valueName: "time"))
  var until: TimeArgument?

  @Argument(help: ArgumentHelp("The receiver's notifications; - for standard input.", valueName: "file"))
  var file: String

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let command = self
    try await conclude { console in
      let configuration = try command.shared.load().configuration
      let settings = try command.settings(in: configuration)
      let received = try CompareOperation.received(in: command.file)
      let kafka = try configuration.cluster(console)
      let clock = MillraceClock(configuration.clock)
      let now = clock.wallTime
      let comparison = try await CompareOperation(
        kafka, catalog: try TopicCatalog.load(configuration), receiver: settings, clock: clock
      ).compare(
        received,
        in: CompareOperation.Window(
          since: command.since?.time(at: now), until: command.until?.time(at: now)))
      try console.out.lines(comparison.lines)
      console.err.note(comparison.summary)
      return comparison.isEqual ? .success : .failure
    }
  }

  private func settings(in configuration: MillraceConfiguration) throws -> ForwardSettings? {
    guard let receiver else { return nil }
    let names = configuration.workerNames.filter(Forwarder.runs(as:))
    if names.contains("forward-\(receiver)") { return try configuration.settings(of: "forward-\(receiver)") }
    let known = names.map { String($0.dropFirst("forward-".count)) }
    throw OperationError(
      .usage, "unknown receiver \(receiver)", at: "--receiver",
      remedy: known.isEmpty
        ? "configure a worker forward-<receiver>" : NearestName.remedy(for: receiver, among: known))
  }
}
