// `millrace handler check` and `millrace handler send`

import AppStore
import AppStoreServerAPI
import ArgumentParser
import HTTPWorkers
import MillraceCore
import MillraceTime
import Operations

struct HandlerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "handler",
    abstract: "Test the HTTP endpoint of a worker.",
    discussion: """
      Examples:
        millrace handler check http://localhost:8000/ --secret-file secret
        millrace handler send http://localhost:8000/ --secret-file secret --sample DID_RENEW
        millrace handler send --worker winback --record 'appstore.notifications.subscriptions[3]@1200'
      """,
    subcommands: [Check.self, Send.self])

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Check that an endpoint does what the protocol of HTTP workers says.",
      discussion: """
        Sends requests of every kind, and some that the endpoint has to refuse: without a signature, with a wrong or an \
        old one, with a body that is no JSON. The endpoint cannot tell them from real requests, so use one whose data \
        does not matter. Prints text on a terminal and JSON lines to a pipe. Exits with 1 if a check fails.

        Examples:
          millrace handler check http://localhost:8000/ --secret-file secret
          millrace handler check --worker winback --json | jq 'select(.result == "failure")'
        """)

    @OptionGroup var target: HandlerTarget
    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let asJSON = command.output.wantsJSON(console)
        return try await command.target.with(command.shared) { endpoint, samples, configuration in
          let entry = command.target.worker.flatMap { configuration.workers[$0] }
          var check = HandlerCheck(
            endpoint, samples, hasDryRuns: entry?.handler.dryRuns ?? false, clock: .system
          ) { finding in
            if asJSON { try console.out.line(finding.jsonLine) } else { try console.out.lines(finding.lines) }
          }
          return try await check.run().status
        }
      }
    }
  }

  struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Send one request to an endpoint, and show what the worker would do after its answer.",
      discussion: """
        The request has a sample that this command signs, or a notification from Kafka, which is verified as a worker \
        would. Nothing is written to Kafka. Exits with 1 if the endpoint does not decide.

        Examples:
          millrace handler send http://localhost:8000/ --secret-file secret --sample EXPIRED/VOLUNTARY
          millrace handler send --worker winback --record 'appstore.notifications.subscriptions[3]@1200'
        """)

    @Option(help: ArgumentHelp("A notification type, such as DID_RENEW or EXPIRED/VOLUNTARY.", valueName: "type"))
    var sample: String?

    @Option(help: ArgumentHelp("A record: topic[partition]@offset.", valueName: "place"))
    var record: String?

    @OptionGroup var target: HandlerTarget
    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func validate() throws {
      if (sample == nil) == (record == nil) { throw ValidationError("Name either --sample or --record.") }
      if let sample, HandlerSend.sample(sample) == nil {
        throw ValidationError("--sample must be a notification type, such as DID_RENEW or EXPIRED/VOLUNTARY.")
      }
      if let record, RecordPlace(record) == nil {
        throw ValidationError("--record must be topic[partition]@offset, such as 'appstore.notifications.tests[0]@12'.")
      }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let asJSON = command.output.wantsJSON(console)
        return try await command.target.with(command.shared) { endpoint, samples, configuration in
          var samples = samples
          let request: HandlerRequest
          if let kind = command.sample.flatMap({ HandlerSend.sample($0) }) {
            request = try await samples.notification(kind)
          } else if let place = command.record.flatMap({ RecordPlace($0) }) {
            request = try await HandlerSend.request(of: place, in: configuration, samples, clock: .system)
          } else {
            return .usage
          }
          let report = try await HandlerSend(endpoint, clock: .system).send(request)
          if asJSON { try console.out.line(report.jsonLine) } else { try console.out.lines(report.lines) }
          return report.status
        }
      }
    }
  }
}

/// The endpoint that a command tests.
struct HandlerTarget: ParsableArguments {
  @Argument(help: ArgumentHelp("The URL of the endpoint; by default the URL of --worker.", valueName: "url"))
  var url: String?

  @Option(
    help: ArgumentHelp("A worker of the configuration: its URL, secrets, payload and certificates.", valueName: "name"))
  var worker: String?

  @Option(help: ArgumentHelp("The file with the secret; by default the file of --worker.", valueName: "file"))
  var secretFile: String?

  @Option(help: ArgumentHelp("How long one request may take.", valueName: "duration"))
  var timeout = "10s"

  func validate() throws {
    if url == nil, worker == nil { throw ValidationError("Name the URL of the endpoint, or a worker with --worker.") }
    if secretFile == nil, worker == nil { throw ValidationError("Name the secret with --secret-file.") }
    if DurationText.parse(timeout).map({ $0 > .zero }) != true {
      throw ValidationError("--timeout must be a duration, such as 10s.")
    }
  }

  /// Runs `body` with the endpoint, and closes its connections.
  func with(
    _ shared: SharedOptions,
    _ body: (Endpoint, HandlerSamples, MillraceConfiguration) async throws -> CommandStatus
  ) async throws -> CommandStatus {
    let configuration = try shared.loadIfNamed() ?? MillraceConfiguration()
    let name = worker ?? "check"
    var handler = HandlerSettings()
    if let worker {
      try configuration.check(worker: worker)
      guard let entry = configuration.workers[worker], entry.isHTTPWorker else {
        throw MillraceError(
          .configuration, "there is no worker \(worker) with a handler", at: "workers",
          remedy: "name another one, or the file with --config")
      }
      handler = entry.handler
    }
    handler.url = url ?? handler.url
    if let secretFile { (handler.secretFile, handler.previousSecretFile) = (secretFile, nil) }
    let exchange = try AsyncHTTPExchange.using(files: Endpoint.connections(handler, count: 4))
    let result: Result<CommandStatus, any Error>
    do {
      let endpoint = Endpoint(
        url: handler.url ?? "", payload: handler.effectivePayload,
        timeout: DurationText.parse(timeout) ?? HandlerSettings.standardTimeout,
        signature: try Endpoint.signature(handler, of: name), exchange: exchange)
      let samples = try HandlerSamples(
        worker: name, payload: handler.effectivePayload, now: MillraceClock.system.wallTime)
      result = .success(try await body(endpoint, samples, configuration))
    } catch {
      result = .failure(error)
    }
    try await exchange.shutdown()
    return try result.get()
  }
}
