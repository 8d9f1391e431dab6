// Gathers what is known of one campaign.

internal import Kafka
public import Millrace
public import RenewalExtensions

/// Looks at campaigns.
public struct CampaignSurvey: Sendable {
  let campaigns: CampaignLog
  let settings: AppStoreSettings

  /// A survey of a deployment's campaigns.
  public init(_ campaigns: CampaignLog, _ settings: AppStoreSettings) {
    self.campaigns = campaigns
    self.settings = settings
  }

  /// A campaign as the topic says.
  /// - Throws: ``OperationError`` where there is none of that id.
  public func campaign(_ id: String) async throws -> Campaign {
    try campaigns.campaign(id, in: try await campaigns.table())
  }

  /// How far a campaign is.
  /// - Throws: `KafkaError`; ``OperationError`` where the worker's topics are not there.
  public func report(on campaign: Campaign) async throws -> CampaignReport {
    let topics = WorkerTopics(
      worker: RenewalExtensionsWorker.name, inputs: [], delays: [], prefix: campaigns.prefix)
    let tally = try await LedgerTally.read(
      topics, in: campaigns.log, prefixes: CampaignProgress.prefixes(of: campaign.id))
    let decisions = try CampaignDecisions(campaigns, author: "")
    let undecided = try await decisions.candidates(for: campaign.id, among: []).letters.count
    return CampaignReport(
      campaign: campaign, progress: CampaignProgress(tally, of: campaign.id), undecided: undecided,
      perSecond: CampaignReport.perSecond(settings, in: campaign.environment))
  }
}
