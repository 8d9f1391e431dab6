// `millrace campaigns start`

import AppStoreServerAPI
import ArgumentParser
import Clocks
import Millrace
import Operations
import RenewalExtensions

extension CampaignsCommand {
  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ask Apple to extend the renewal dates of all subscribers of a product.",
      discussion: """
        Shows what it is about to do and asks. The campaign is written down before Apple is asked; a start that was \
        interrupted is resumed with the same identifier, so that it happens once.

        Reasons: 0 undeclared, 1 customer satisfaction, 2 other, 3 service issue or outage.

        Examples:
          millrace campaigns start --product com.example.monthly --days 7 --reason 3
          millrace campaigns start --product com.example.monthly --days 2 --reason 3 --storefront DEU --storefront AUT
          millrace campaigns start --resume 1f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11
        """)

    @Option(help: ArgumentHelp("The product whose subscribers are extended.", valueName: "product id"))
    var product: String?

    @Option(help: ArgumentHelp("By how many days, 1 to 90.", valueName: "number"))
    var days: Int?

    @Option(help: ArgumentHelp("Why, 0 to 3.", valueName: "number"))
    var reason: Int?

    @Option(help: ArgumentHelp("Only in this storefront; may be repeated.", valueName: "alpha-3 code"))
    var storefront: [String] = []

    @Flag(help: "Start it although failures could be another campaign's; those wait for millrace campaigns resolve.")
    var overlap = false

    @Option(help: ArgumentHelp("Go on with a campaign whose start was interrupted.", valueName: "id"))
    var resume: String?

    @Option(help: ArgumentHelp("The app, when the configuration has several.", valueName: "bundle id"))
    var app: String?

    @Option(help: ArgumentHelp("Production or Sandbox; production where the app is there.", valueName: "name"))
    var environment: String?

    @Option(help: ArgumentHelp("Who starts it; by default this user.", valueName: "name"))
    var by: String?

    @OptionGroup var consent: Consent
    @OptionGroup var options: Options

    func validate() throws {
      let given = [product != nil, days != nil, reason != nil]
      if resume != nil {
        if given.contains(true) || !storefront.isEmpty || environment != nil {
          throw ValidationError("--resume goes on with a campaign as it was asked for; give nothing else of it.")
        }
      } else if given.contains(false) {
        throw ValidationError("--product, --days and --reason are needed.")
      }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let configuration = try command.options.shared.load().configuration
        let clock = MillraceClock(configuration.clock)
        guard let resumed = command.resume else { return try await command.start(configuration, clock, on: console) }
        let campaigns = try await command.options.connect(configuration, telling: console)
        let campaign = try await CampaignSurvey(campaigns, configuration.appStore).campaign(resumed)
        let app = try CampaignStart.app(of: campaign, named: command.app, in: configuration)
        return try await APIAccess.with(app, configuration, clock: clock, part: 1) { client in
          let (campaign, result) = try await CampaignStart(campaigns, client: client, clock: clock).resume(campaign.id)
          return try command.tell(result, of: campaign, on: console)
        }
      }
    }

    private func start(
      _ configuration: MillraceConfiguration, _ clock: MillraceClock, on console: Console
    ) async throws -> CommandStatus {
      let command = self
      let app = try APIApp(app: app, environment: environment, in: configuration)
      // What is wrong with it is said before anybody is asked.
      let campaign = try campaign(of: app, at: clock)
      let campaigns = try await options.connect(configuration, telling: console)
      // Nobody else calls the two endpoints of mass extensions.
      return try await APIAccess.with(app, configuration, clock: clock, part: 1) { client in
        try await command.begin(campaign, CampaignStart(campaigns, client: client, clock: clock), on: console)
      }
    }

    private func campaign(of app: APIApp, at clock: MillraceClock) throws -> Campaign {
      let draft = CampaignDraft(
        product: product ?? "", days: days ?? 0, reason: reason ?? -1, storefronts: storefront)
      return try draft.campaign(
        id: CampaignStart.newID(), bundleId: app.settings.bundleId, environment: app.oneEnvironment,
        at: clock.wallTime, by: by ?? CommandingOptions.user)
    }

    private func begin(
      _ campaign: Campaign, _ start: CampaignStart, on console: Console
    ) async throws -> CommandStatus {
      let overlapping = try await start.overlapping(campaign)
      for line in CampaignPlan(campaign, overlapping).lines { console.err.note(line) }
      guard overlap || overlapping.isEmpty else {
        throw OperationError(
          .usage, "its failures could not be told from those of \(overlapping.map(\.id).joined(separator: ", "))",
          at: "--overlap", remedy: "wait until that one is complete, or pass --overlap and resolve failures yourself")
      }
      guard try consent.isGiven("Ask Apple?", on: console) else { return .failure }
      let result = try await start.start(campaign, knowing: overlapping)
      return try tell(result, of: campaign, on: console)
    }

    private func tell(
      _ result: CampaignStart.Result, of campaign: Campaign, on console: Console
    ) throws -> CommandStatus {
      console.err.note(result.sentence(campaign))
      // For a script to go on with.
      try console.out.line(campaign.id)
      return result.status
    }
  }

  struct Resolve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say that failures belong to a campaign, and have them tried again.",
      discussion: """
        A failure that fits several campaigns, or none, is a dead letter: nothing is called in doubt. Without ids all \
        open ones that fit this campaign and another are meant. The worker has to run.

        Examples:
          millrace campaigns resolve 1f0c --why "the other one was for Austria"
          millrace campaigns resolve 1f0c 3/17 3/18 --why "asked for by hand" --yes
        """)

    @Argument(help: ArgumentHelp("The campaign, or what only its id begins with.", valueName: "id"))
    var id: String

    @Argument(help: ArgumentHelp("Dead letters by their ids.", valueName: "dead letter"))
    var letters: [String] = []

    @Option(help: ArgumentHelp("The reason; it stays with the records.", valueName: "text"))
    var why: String

    @OptionGroup var commanding: CommandingOptions
    @OptionGroup var consent: Consent
    @OptionGroup var options: Options

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let ids = try command.letters.map { try DeadLetterID($0) }
        let (campaigns, _) = try await command.options.connect(telling: console)
        let decisions = try CampaignDecisions(campaigns, author: command.commanding.author)
        let (campaign, letters) = try await decisions.candidates(for: command.id, among: ids)
        guard !letters.isEmpty else {
          console.err.note("No failure waits for a decision about \(campaign.id).")
          return .success
        }
        console.err.note("\(letters.count) failures are to belong to \(campaign.id): \(CampaignWords.terms(campaign)).")
        guard try command.consent.isGiven("Try them again?", on: console) else { return .failure }
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
      abstract: "Stop the retries of a campaign. Apple's own mass extension goes on.",
      discussion: """
        Examples:
          millrace campaigns cancel 1f0c --why "the wrong product"
        """)

    @Argument(help: ArgumentHelp("The campaign, or what only its id begins with.", valueName: "id"))
    var id: String

    @Option(help: ArgumentHelp("The reason; it is part of events.", valueName: "text"))
    var why: String

    @Option(help: ArgumentHelp("Who cancels; by default this user.", valueName: "name"))
    var by: String?

    @OptionGroup var consent: Consent
    @OptionGroup var options: Options

    func run() async throws {
      let command = self
      try await conclude { console in
        let (campaigns, _) = try await command.options.connect(telling: console)
        let decisions = try CampaignDecisions(campaigns, author: command.by ?? CommandingOptions.user)
        console.err.note(CampaignDecisions.cancellationWarning)
        guard try command.consent.isGiven("Stop the retries of \(command.id)?", on: console) else { return .failure }
        let campaign = try await decisions.cancel(command.id, why: command.why)
        console.err.note("No retries any more for \(campaign.id).")
        try console.out.line(campaign.id)
        return .success
      }
    }
  }
}
