// `millrace webhooks …`

import AppStoreServerAPI
import ArgumentParser
import HTTPWorkers
import MillraceCore
import MillraceTime
import MillraceWorker
import Operations

struct WebhooksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "webhooks",
    abstract: "List, test, pause and resume webhooks.",
    discussion: """
      Examples:
        millrace webhooks list
        millrace webhooks test crm
        millrace webhooks pause crm
        millrace webhooks resume crm
      """,
    subcommands: [List.self, Test.self, Pause.self, Resume.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the webhooks with their lag and their open dead letters.",
      discussion: """
        The lag counts the records that the webhook's worker has not read, and those that wait for a retry, whatever \
        their type. Prints a table on a terminal and JSON lines to a pipe.

        Examples:
          millrace webhooks list
          millrace webhooks list --json | jq 'select(.lag > 1000 or .paused)'
        """)

    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func run() async throws {
      let command = self
      try await conclude { console in
        let configuration = try command.shared.load().configuration
        let kafka = try configuration.cluster(console)
        let all = try await WebhookOperations(configuration, kafka).all()
        if all.isEmpty { console.err.note("no webhooks are configured; see docs/webhooks.md") }
        let out = console.out
        if command.output.wantsJSON(console) {
          for status in all { try out.line(status.jsonLine) }
        } else {
          try out.lines(WebhookStatus.lines(all, lineWidth: out.width, usesColor: out.usesColor))
        }
        return .success
      }
    }
  }

  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Post one signed test event to a webhook's URL, and show the answer.",
      discussion: """
        The event has the type dev.millrace.webhooks.webhook.test, which no worker publishes. Nothing is written to \
        Kafka, and a pause has no effect. Exits with 1 if the receiver does not accept it.

        Examples:
          millrace webhooks test crm
          millrace webhooks test crm --json | jq .status
        """)

    @Argument(help: ArgumentHelp("The webhook, by its name under `webhooks`.", valueName: "name"))
    var name: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let configuration = try command.shared.load().configuration
        let worker = try WebhookOperations.worker(command.name, in: configuration)
        let handler = try configuration.endpoint(of: worker) ?? HandlerSettings()
        let exchange = try AsyncHTTPExchange.using(files: Endpoint.connections(handler, count: 1))
        let result: Result<WebhookTest.Report, any Error>
        do {
          let endpoint = Endpoint(
            url: handler.url ?? "", payload: handler.effectivePayload, timeout: handler.effectiveTimeout,
            signature: try Endpoint.signature(handler, of: worker), exchange: exchange)
          result = .success(try await WebhookTest.send(to: endpoint, webhook: command.name, clock: .system))
        } catch {
          result = .failure(error)
        }
        try await exchange.shutdown()
        let report = try result.get()
        let out = console.out
        if command.output.wantsJSON(console) { try out.line(report.jsonLine) } else { try out.lines(report.lines) }
        return report.status
      }
    }
  }

  struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Pause a webhook: its events wait in Kafka, in order, until it is resumed.",
      discussion: """
        Every process of the webhook stops posting within seconds. Posts that have begun end. The pause is in the audit \
        trail and survives restarts.

        Examples:
          millrace webhooks pause crm
        """)

    @OptionGroup var control: WebhookControl

    func run() async throws { try await control.run(.pause) }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Let a paused webhook go on where it stopped.",
      discussion: """
        Events that waited in a retry topic follow within a minute or two, in order for each key.

        Examples:
          millrace webhooks resume crm
        """)

    @OptionGroup var control: WebhookControl

    func run() async throws { try await control.run(.resume) }
  }
}

/// The arguments of `pause` and `resume`.
struct WebhookControl: ParsableArguments {
  @Argument(help: ArgumentHelp("The webhook, by its name under `webhooks`.", valueName: "name"))
  var name: String

  @Option(help: ArgumentHelp("The operator; by default this user.", valueName: "name"))
  var by: String?

  @OptionGroup var shared: SharedOptions
}

extension WebhookControl {
  func run(_ verb: RunVerb) async throws {
    let control = self
    try await WebhooksCommand().conclude { console in
      let configuration = try control.shared.load().configuration
      let kafka = try configuration.cluster(console)
      try await WebhookOperations(configuration, kafka).control(
        control.name, verb, by: try CommandingOptions.author(control.by),
        at: MillraceClock(configuration.clock).wallTime)
      console.err.note("\(verb.rawValue): said")
      return .success
    }
  }
}
