// `millrace compare`

import AppStore
import ArgumentParser
import Millrace
import Operations

struct CompareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compare what another receiver got with what the topics hold.",
    discussion: """
      FILE has one notification a line, in the order the receiver got them: the body as posted, the token \
      (signedPayload), or the notificationUUID alone. Differences are printed one a line, with tabs: missing (in the \
      topics, not at the receiver), unknown (the other way round), bytes (not the same), order (before one that came \
      earlier under its key); the sum goes to standard error. Ends with 0 when nothing differs, with 1 when something does.

      Examples:
        millrace compare received.jsonl
        millrace compare --receiver old --since 2026-01-31T00:00:00Z --until 2026-02-01T00:00:00Z received.jsonl
        psql -Atc 'select notification_uuid from notifications order by id' | millrace compare -
      """)

  @Option(
    help: ArgumentHelp("Only what this receiver of `forward` in the configuration is to get.", valueName: "name"))
  var receiver: String?

  @Option(help: ArgumentHelp("Only what was written to the topics at or after this time.", valueName: "time"))
  var since: String?

  @Option(help: ArgumentHelp("Only what was written to the topics before this time.", valueName: "time"))
  var until: String?

  @Argument(help: ArgumentHelp("What the receiver got; - for standard input.", valueName: "file"))
  var file: String

  @OptionGroup var shared: SharedOptions

  func validate() throws {
    for (name, text) in [("since", since), ("until", until)] {
      if let text, Timestamp(rfc3339: text) == nil {
        throw ValidationError("--\(name) must be a time such as 2026-01-31T12:00:00Z, not \(text).")
      }
    }
  }

  func run() async throws {
    let command = self
    try await conclude { console in
      let configuration = try command.shared.load().configuration
      let settings = try command.settings(in: configuration)
      let received = try CompareOperation.received(in: command.file)
      let kafka = try configuration.kafka.outsideClient()
      console.err.note(kafka.connecting)
      let comparison = try await CompareOperation(
        kafka, catalog: try TopicCatalog.load(configuration), receiver: settings
      ).compare(
        received,
        in: CompareOperation.Window(
          since: command.since.flatMap { Timestamp(rfc3339: $0) }?.millisecondsSince1970,
          until: command.until.flatMap { Timestamp(rfc3339: $0) }?.millisecondsSince1970))
      try console.out.lines(comparison.lines)
      console.err.note(comparison.summary)
      return comparison.isEqual ? .success : .failure
    }
  }

  private func settings(in configuration: MillraceConfiguration) throws -> ForwardSettings? {
    guard let receiver else { return nil }
    if let settings = configuration.forward.first(where: { $0.name == receiver }) { return settings }
    let known = configuration.forward.compactMap(\.name).joined(separator: ", ")
    throw OperationError(
      .usage, "there is no receiver \(receiver)", at: "--receiver",
      remedy: known.isEmpty ? "configure one in forward" : "choose one of \(known)")
  }
}
