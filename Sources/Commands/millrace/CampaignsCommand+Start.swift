// `millrace campaigns start`

import AppStoreServerAPI
import ArgumentParser
import MillraceTime
import MillraceCore
import Operations
import RenewalExtensions

extension CampaignsCommand {
  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ask Apple to extend the renewal dates of all subscribers of a product.",
      discussion: """
        Shows the request and asks for confirmation. The campaign is stored before the request to Apple. An \
        interrupted start is resumed with the same identifier, so Apple runs it once. --resume takes the full ID, also \
        asks for confirmation, and refuses a cancelled campaign.

        Reasons: 0 undeclared, 1 customer satisfaction, 2 other, 3 service issue or outage.

        Examples:
          millrace campaigns start --product com.example.monthly --days 7 --reason 3
          millrace campaigns start --product com.example.monthly --days 2 --reason 3 --storefront DEU --storefront AUT
          millrace campaigns start --resume 1f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11
        """)

    @Option(help: ArgumentHelp("The product whose subscribers get the extension.", valueName: "product id"))
    var product: String?

    @Option(help: ArgumentHelp("The number of days, 1 to 90.", valueName: "number"))
    var days: Int?

    @Option(help: ArgumentHelp("The reason, 0 to 3.", valueName: "number"))
    var reason: Int?

    @Option(help: ArgumentHelp("Only in this storefront; may be repeated.", valueName: "alpha-3 code"))
    var storefront: [String] = []

    @Flag(help: "Send it even if it overlaps another campaign; failures of both then need millrace campaigns resolve.")
    var overlap = false

    @Option(help: ArgumentHelp("Resume a campaign whose start was interrupted.", valueName: "full id"))
    var resume: String?

    @Option(help: ArgumentHelp("The app, if the configuration has several.", valueName: "bundle id"))
    var app: String?

    @Option(help: ArgumentHelp("Production or Sandbox; by default Production if the app has it.", valueName: "name"))
    var environment: String?

    @Option(help: ArgumentHelp("The operator; by default this user.", valueName: "name"))
    var by: String?

    @OptionGroup var consent: Consent
    @OptionGroup var options: Options

    func validate() throws {
      let given = [product != nil, days != nil, reason != nil]
      if resume != nil {
        if given.contains(true) || !storefront.isEmpty || environment != nil {
          throw ValidationError("--resume uses the stored campaign; remove the other flags.")
        }
      } else if given.contains(false) {
        throw ValidationError("--product, --days and --reason are required.")
      }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let configuration = try command.options.shared.load().configuration
        let clock = MillraceClock(configuration.clock)
        guard let resumed = command.resume else { return try await command.start(configuration, clock, on: console) }
        let campaigns = try await command.options.connect(configuration, console: console)
        let campaign = try await CampaignStart.resumable(resumed, in: campaigns)
        let app = try CampaignStart.app(of: campaign, named: command.app, in: configuration)
        return try await APIAccess.with(app, configuration, clock: clock, part: 1) { client in
          try await command.goOn(with: campaign, CampaignStart(campaigns, client: client, clock: clock), on: console)
        }
      }
    }

    private var author: String { get throws { try CommandingOptions.author(by) } }

    private func goOn(
      with campaign: Campaign, _ start: CampaignStart, on console: Console
    ) async throws -> CommandStatus {
      if let result = try await start.find(campaign, by: try author) {
        return try report(result, of: campaign, on: console)
      }
      let overlapping = try await start.overlapping(campaign)
      guard try isAgreed(CampaignPlan(campaign, overlapping, isResumed: true), on: console) else { return .failure }
      let (resumed, result) = try await start.resume(campaign.id, by: try author, knowing: overlapping)
      return try report(result, of: resumed, on: console)
    }

    /// Shows the plan and asks for confirmation.
    private func isAgreed(_ plan: CampaignPlan, on console: Console) throws -> Bool {
      for line in plan.lines { console.err.note(line) }
      try plan.check(isAgreed: overlap)
      return try consent.isGiven("Send this to Apple?", on: console)
    }

    private func start(
      _ configuration: MillraceConfiguration, _ clock: MillraceClock, on console: Console
    ) async throws -> CommandStatus {
      let command = self
      let app = try APIApp(app: app, environment: environment, in: configuration)
      // Check the campaign before connecting.
      let campaign = try campaign(of: app, at: clock)
      let campaigns = try await options.connect(configuration, console: console)
      // No other process calls the two endpoints of mass extensions.
      return try await APIAccess.with(app, configuration, clock: clock, part: 1) { client in
        try await command.begin(campaign, CampaignStart(campaigns, client: client, clock: clock), on: console)
      }
    }

    private func campaign(of app: APIApp, at clock: MillraceClock) throws -> Campaign {
      let draft = CampaignDraft(
        product: product ?? "", days: days ?? 0, reason: reason ?? -1, storefronts: storefront)
      return try draft.campaign(
        id: CampaignStart.newID(), bundleId: app.settings.bundleId, environment: app.oneEnvironment,
        at: clock.wallTime, by: try author)
    }

    private func begin(
      _ campaign: Campaign, _ start: CampaignStart, on console: Console
    ) async throws -> CommandStatus {
      let overlapping = try await start.overlapping(campaign)
      guard try isAgreed(CampaignPlan(campaign, overlapping), on: console) else { return .failure }
      let result = try await start.start(campaign, knowing: overlapping)
      return try report(result, of: campaign, on: console)
    }

    private func report(
      _ result: CampaignStart.Result, of campaign: Campaign, on console: Console
    ) throws -> CommandStatus {
      console.err.note(result.sentence(campaign))
      // The ID, for scripts.
      try console.out.line(campaign.id)
      return result.status
    }
  }

  struct Resolve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Assign failures to a campaign and retry them.",
      discussion: """
        A failure that matches several campaigns, or none, becomes a dead letter instead of a call to Apple. Without \
        IDs, selects all open ones that match this campaign and another. The worker must be running.

        Examples:
          millrace campaigns resolve 1f0c --why "the other one was for Austria"
          millrace campaigns resolve 1f0c 3/17 3/18 --why "asked for by hand" --yes
        """)

    @Argument(help: ArgumentHelp("The campaign's ID or a unique prefix of it.", valueName: "id"))
    var id: String

    @Argument(help: ArgumentHelp("IDs of dead letters.", valueName: "dead letter"))
    var letters: [String] = []

    @Option(help: ArgumentHelp("The reason; it is stored with the records.", valueName: "text"))
    var why: String

    @OptionGroup var commanding: CommandingOptions
    @OptionGroup var consent: Consent
    @OptionGroup var options: Options

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let ids = try command.letters.map { try DeadLetterID($0) }
        let (campaigns, _) = try await command.options.connect(console: console)
        let decisions = try CampaignDecisions(campaigns, author: try command.commanding.author)
        let (campaign, letters) = try await decisions.candidates(for: command.id, among: ids)
        guard !letters.isEmpty else {
          console.err.note("No failure needs a decision about \(campaign.id).")
          return .success
        }
        console.err.note("Assigning \(letters.count) failures to \(campaign.id): \(CampaignWords.terms(campaign)).")
        guard try command.consent.isGiven("Retry them?", on: console) else { return .failure }
        let reporter = Reporter<OperationReport>(console.out, asJSON: command.options.output.wantsJSON(console))
        let summary = try await decisions.resolve(
          letters, to: campaign, why: command.why, patience: command.commanding.patience, report: reporter.report)
        console.err.note(summary.sentence)
        return summary.status
      }
    }
  }

  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Stop the retries of a campaign. Apple's own mass extension continues.",
      discussion: """
        Examples:
          millrace campaigns cancel 1f0c --why "the wrong product"
        """)

    @Argument(help: ArgumentHelp("The campaign's ID or a unique prefix of it.", valueName: "id"))
    var id: String

    @Option(help: ArgumentHelp("The reason; it is included in events.", valueName: "text"))
    var why: String

    @Option(help: ArgumentHelp("The operator; by default this user.", valueName: "name"))
    var by: String?

    @OptionGroup var consent: Consent
    @OptionGroup var options: Options

    func run() async throws {
      let command = self
      try await conclude { console in
        let (campaigns, _) = try await command.options.connect(console: console)
        let decisions = try CampaignDecisions(campaigns, author: try CommandingOptions.author(command.by))
        console.err.note(CampaignDecisions.cancellationWarning)
        guard try command.consent.isGiven("Stop the retries of \(command.id)?", on: console) else { return .failure }
        let campaign = try await decisions.cancel(command.id, why: command.why)
        console.err.note("Stopped the retries of \(campaign.id).")
        try console.out.line(campaign.id)
        return .success
      }
    }
  }
}
