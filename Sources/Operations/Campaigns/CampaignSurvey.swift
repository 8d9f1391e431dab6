// Collects the state and the progress of a campaign.

internal import KafkaClient
package import MillraceCore
internal import MillraceRecords
internal import MillraceWorker
package import RenewalExtensions

/// Reads campaigns and their progress.
package struct CampaignSurvey: Sendable {
  let campaigns: CampaignLog
  let configuration: MillraceConfiguration

  /// Creates a survey of a deployment's campaigns.
  package init(_ campaigns: CampaignLog, _ configuration: MillraceConfiguration) {
    self.campaigns = campaigns
    self.configuration = configuration
  }

  /// Reads a campaign from the topic.
  /// - Throws: ``OperationError`` if no campaign has this ID.
  package func campaign(_ id: String) async throws -> Campaign {
    try campaigns.campaign(id, in: try await campaigns.table())
  }

  /// Reads the progress of a campaign.
  /// - Throws: `KafkaError`; ``OperationError`` if the worker's topics do not exist.
  package func report(on campaign: Campaign) async throws -> CampaignReport {
    let progress = try await campaigns.progress(of: campaign.id)
    let decisions = try CampaignDecisions(campaigns, author: "")
    let undecided = try await decisions.candidates(for: campaign.id, among: []).letters.count
    return CampaignReport(
      campaign: campaign, progress: progress, undecided: undecided,
      perSecond: CampaignReport.perSecond(configuration, in: campaign.environment))
  }
}
