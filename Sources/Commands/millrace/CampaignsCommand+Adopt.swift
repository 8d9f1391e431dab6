// `millrace campaigns adopt`

import AppStore
import AppStoreServerAPI
import ArgumentParser
import MillraceCore
import MillraceTime
import Operations
import RenewalExtensions

extension CampaignsCommand {
  struct Adopt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Register a mass extension that another tool has started, so that its failures are retried.",
      discussion: """
        Asks Apple whether it has the extension, shows what is known, and asks for confirmation. Nothing is sent to \
        Apple. Apple does not tell the days, the reason and the storefronts: pass what the other tool requested. \
        Failures that became dead letters because no campaign was known are then sent to the worker again, so the \
        worker must be running. If that was interrupted, repeat the same command.

        Without the request identifier, Apple cannot be asked. --without-status then registers the failures of a window \
        of time, from --since to --until.

        Examples:
          millrace campaigns adopt 1f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11 --product com.example.monthly --days 7 \
        --reason 3 --since 2026-03-02T09:00:00Z --why "started by our script"
          millrace campaigns adopt --without-status --product com.example.monthly --days 7 --reason 3 \
        --since 2026-03-02T09:00:00Z --until 2026-03-03T09:00:00Z --why "its identifier is lost"
        """)

    @Argument(help: ArgumentHelp("The request identifier of the mass extension, a UUID.", valueName: "request id"))
    var id: String?

    @Option(help: ArgumentHelp("The product whose subscribers got the extension.", valueName: "product id"))
    var product: String

    @Option(help: ArgumentHelp("The number of days that was requested, 1 to 90.", valueName: "number"))
    var days: Int

    @Option(help: ArgumentHelp("The reason that was requested, 0 to 3.", valueName: "number"))
    var reason: Int

    @Option(help: ArgumentHelp("Only in this storefront; may be repeated.", valueName: "alpha-3 code"))
    var storefront: [String] = []

    @Option(help: ArgumentHelp("When it was requested, or earlier: \(TimeArgument.forms).", valueName: "time"))
    var since: TimeArgument

    @Option(help: ArgumentHelp("With --without-status: when it was over, in the same forms.", valueName: "time"))
    var until: TimeArgument?

    @Flag(help: "Do not ask Apple: register every failure of the window.")
    var withoutStatus = false

    @Option(help: ArgumentHelp("The reason for the adoption; it is stored in the audit trail.", valueName: "text"))
    var why: String

    @Flag(help: "Adopt it even if it overlaps another campaign; failures of both then need millrace campaigns resolve.")
    var overlap = false

    @Option(help: ArgumentHelp("The app, if the configuration has several.", valueName: "bundle id"))
    var app: String?

    @Option(help: ArgumentHelp("Production or Sandbox; by default Production if the app has it.", valueName: "name"))
    var environment: String?

    @OptionGroup var commanding: CommandingOptions
    @OptionGroup var consent: Consent
    @OptionGroup var options: Options

    func validate() throws {
      guard withoutStatus else {
        guard id != nil, until == nil else {
          throw ValidationError("Pass the request identifier, or --without-status and --until.")
        }
        return
      }
      let now = MillraceClock.system.wallTime
      guard let until, until.time(at: now) > since.time(at: now) else {
        throw ValidationError("--without-status needs --until, a time after --since.")
      }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let configuration = try command.options.shared.load().configuration
        let clock = MillraceClock(configuration.clock)
        let app = try APIApp(app: command.app, environment: command.environment, in: configuration)
        // Check the campaign before connecting.
        let campaign = try command.campaign(of: app, at: clock.wallTime)
        let campaigns = try await command.options.connect(configuration, console: console)
        let decisions = try CampaignDecisions(campaigns, author: try command.commanding.author, clock: clock)
        return try await APIAccess.with(app, configuration, clock: clock, part: 1) { client in
          let start = CampaignStart(campaigns, client: client, clock: clock)
          return try await command.adopt(campaign, start, decisions, on: console)
        }
      }
    }

    private func campaign(of app: APIApp, at now: Timestamp) throws -> Campaign {
      let requested = since.time(at: now)
      guard requested <= now else {
        throw OperationError(.usage, "the time is in the future", at: "--since", remedy: "pass a time in UTC")
      }
      let draft = CampaignDraft(product: product, days: days, reason: reason, storefronts: storefront)
      var campaign = try draft.campaign(
        id: id ?? CampaignStart.newID(), bundleId: app.settings.bundleId, environment: app.oneEnvironment,
        at: requested, by: try commanding.author)
      campaign.until = until?.time(at: now)
      return campaign
    }

    private func adopt(
      _ described: Campaign, _ start: CampaignStart, _ decisions: CampaignDecisions, on console: Console
    ) async throws -> CommandStatus {
      let known = try await start.adopted(described)
      let campaign: Campaign
      if let known { campaign = known } else { campaign = try await start.adoptable(described) }
      let overlapping = try await start.overlapping(campaign)
      let waiting = try await decisions.unmatched(by: campaign).count
      let plan = CampaignAdoptionPlan(
        campaign, overlapping: overlapping, waiting: waiting, isKnown: known != nil)
      for line in plan.lines { console.err.note(line) }
      guard known == nil || waiting > 0 else {
        try console.out.line(campaign.id)
        return .success
      }
      try plan.check(isAgreed: overlap)
      let word = withoutStatus ? campaign.productId : nil
      let question = known == nil ? "Adopt it?" : "Send its failures to the worker again?"
      guard try consent.isGiven(question, typing: word, on: console) else { return .failure }
      if known == nil {
        let result = try await start.adopt(campaign, knowing: overlapping, why: why)
        console.err.note(result.sentence(campaign))
        guard case .adopted = result else { return result.status }
      }
      // The ID, for scripts.
      try console.out.line(campaign.id)
      // More failures may have become dead letters before the answer to the question.
      let summary = try await decisions.requeueUnmatched(
        by: campaign, why: "adopted \(campaign.id)", patience: commanding.patience
      ) { _ in }
      if summary.run != nil { console.err.note(summary.sentence) }
      return summary.status
    }
  }
}
