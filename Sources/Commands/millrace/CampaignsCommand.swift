// `millrace campaigns …`: mass extensions of renewal dates.

import AppStore
import AppStoreServerAPI
import ArgumentParser
import MillraceTime
import KafkaClient
import MillraceCore
import Operations
import RenewalExtensions

struct CampaignsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "campaigns",
    abstract: "Extend the renewal dates of all subscribers of a product, and follow the progress.",
    discussion: """
      Apple extends all subscriptions it can. The renewal-extensions worker retries the failures one by one, with the \
      campaign's days and reason. Extensions cannot be undone, and Apple e-mails the customers.

      Examples:
        millrace campaigns start --product com.example.monthly --days 7 --reason 3
        millrace campaigns show 1f0c
        millrace campaigns cancel 1f0c --why "the wrong product"
      """,
    subcommands: [List.self, Start.self, Adopt.self, Show.self, Resolve.self, Cancel.self])

  /// The options of every subcommand.
  struct Options: ParsableArguments {
    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func connect(console: Console) async throws -> (CampaignLog, MillraceConfiguration) {
      let configuration = try shared.load().configuration
      return (try await connect(configuration, console: console), configuration)
    }

    func connect(_ configuration: MillraceConfiguration, console: Console) async throws -> CampaignLog {
      CampaignLog(on: try await configuration.connect(console), prefix: configuration.topics.prefix)
    }
  }

  /// Confirmation before an action that cannot be undone.
  struct Consent: ParsableArguments {
    @Flag(help: "Proceed without confirmation.")
    var yes = false

    /// - Parameter word: A word that the operator has to type; nil for yes.
    func isGiven(_ question: String, typing word: String? = nil, on console: Console) throws -> Bool {
      func ask(_ question: String) -> String? {
        console.err.note(question)
        return StandardInput.readLine()
      }
      let canAsk = StandardInput.isTerminal
      let approval =
        if let word {
          try Approval.of(isGiven: yes, canAsk: canAsk, question: question, typing: word, ask: ask)
        } else {
          try Approval.of(isGiven: yes, canAsk: canAsk, question: question, ask: ask)
        }
      if approval != .granted { console.err.note("nothing was done") }
      return approval == .granted
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show all campaigns, newest last.",
      discussion: """
        Examples:
          millrace campaigns list
          millrace campaigns list --json | jq 'select(.state == "unclear")'
        """)

    @OptionGroup var options: Options

    func run() async throws {
      let options = options
      try await conclude { console in
        let (campaigns, _) = try await options.connect(console: console)
        let all = try await campaigns.table().campaigns
        let out = console.out
        if options.output.wantsJSON(console) {
          if all.isEmpty { console.err.note("No campaigns.") }
          try out.lines(all.map { CampaignReport.jsonLine($0) })
        } else {
          try out.lines(CampaignReport.lines(all, lineWidth: out.width, usesColor: out.usesColor))
        }
        return .success
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show a campaign's progress: Apple's counts, Millrace's, failures by reason, pending retries.",
      discussion: """
        Asks Apple whether the campaign is complete, if the app has API credentials.

        Examples:
          millrace campaigns show 1f0c
          millrace campaigns show 1f0c --json | jq .progress.refused
        """)

    @Argument(help: ArgumentHelp("The campaign's ID or a unique prefix of it.", valueName: "id"))
    var id: String

    @OptionGroup var options: Options

    func run() async throws {
      let (id, options) = (id, options)
      try await conclude(finishesOnSignal: true) { console in
        let (campaigns, configuration) = try await options.connect(console: console)
        let survey = CampaignSurvey(campaigns, configuration)
        let known = try await survey.campaign(id)
        let campaign = try await Self.refreshed(known, campaigns, configuration, console)
        let report = try await survey.report(on: campaign)
        let out = console.out
        if options.output.wantsJSON(console) {
          try out.line(report.jsonLine)
        } else {
          try out.lines(report.lines(lineWidth: out.width, usesColor: out.usesColor))
        }
        return .success
      }
    }

    /// Asks Apple for the status. If Apple does not answer, the state in Kafka is still worth showing.
    private static func refreshed(
      _ campaign: Campaign, _ campaigns: CampaignLog, _ configuration: MillraceConfiguration, _ console: Console
    ) async throws -> Campaign {
      guard campaign.completion == nil,
        configuration.apps.first(where: { $0.bundleId == campaign.bundleId })?.api.isComplete == true
      else { return campaign }
      let app = try APIApp(
        app: campaign.bundleId, environment: campaign.environment.rawValue, in: configuration)
      let clock = MillraceClock(configuration.clock)
      do {
        return try await APIAccess.with(app, configuration, clock: clock) { client in
          try await CampaignStart(campaigns, client: client, clock: clock).refresh(campaign)
        }
      } catch let error as APIError {
        console.err.note("could not get the status from Apple: \(error)")
        return campaign
      }
    }
  }
}
