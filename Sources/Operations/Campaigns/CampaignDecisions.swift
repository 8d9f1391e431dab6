// What an operator decides about a campaign that runs: which failures belong to it, and that its retries end.

internal import AppStore
public import Clocks
internal import Millrace
public import RenewalExtensions

/// Resolves and cancels campaigns.
public struct CampaignDecisions: Sendable {
  let campaigns: CampaignLog
  let operations: WorkerOperations
  let author: String
  let clock: MillraceClock

  /// The dead letters that wait for a decision.
  static let reasons: Set<String> = ["campaign-not-found", "campaign-ambiguous"]

  /// Decisions of one operator.
  /// - Throws: ``OperationError`` does not occur in practice.
  public init(_ campaigns: CampaignLog, author: String, clock: MillraceClock = .system) throws(OperationError) {
    self.campaigns = campaigns
    self.author = author
    self.clock = clock
    operations = try WorkerOperations(
      worker: RenewalExtensionsWorker.name, prefix: campaigns.prefix, on: campaigns.log, author: author, clock: clock)
  }

  /// Failures that an operator may say belong to a campaign.
  ///
  /// - Parameter ids: Dead letters by their ids; empty: those open ones that fit the campaign and another.
  /// - Throws: ``OperationError`` for an id that is no open dead letter about a campaign.
  public func candidates(
    for id: String, among ids: [DeadLetterID]
  ) async throws -> (campaign: Campaign, letters: [DeadLetterEntry]) {
    let campaign = try campaigns.campaign(id, in: try await campaigns.wholeTable())
    let open = try await operations.deadLetters(reasons: Self.reasons, isOpenOnly: true)
    guard !ids.isEmpty else { return (campaign, open.filter { $0.detail.contains(campaign.id) }) }
    let letters = try ids.map { id throws(OperationError) in
      guard let letter = open.first(where: { $0.id == id }) else {
        throw OperationError(
          .usage, "no open dead letter about a campaign", at: "\(id)",
          remedy: "copy an id from millrace dead-letters list --worker \(RenewalExtensionsWorker.name) --open")
      }
      return letter
    }
    return (campaign, letters)
  }

  /// Says that these failures belong to the campaign, and has them tried again.
  ///
  /// - Parameters:
  ///   - patience: How long the lanes' owners may be silent.
  ///   - report: Hears what becomes of each.
  public func resolve(
    _ letters: [DeadLetterEntry], to campaign: Campaign, why: String, patience: Duration,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    let notifications = letters.compactMap(\.notificationID)
    let size = CampaignResolution.maximumCount
    // Acknowledged before the first is requeued: a worker that takes one up reads what stands here.
    try await campaigns.append(
      stride(from: 0, to: notifications.count, by: size).map { start in
        .resolution(
          CampaignResolution(
            id: CommandID.new(), campaign: campaign.id,
            notifications: Array(notifications[start..<min(start + size, notifications.count)]), at: clock.wallTime,
            by: author, why: why))
      })
    return try await operations.requeue(letters.map(\.id), why: why, patience: patience, report: report)
  }

  /// Ends the retries of a campaign. What Apple does goes on.
  /// - Throws: ``OperationError`` where they have ended already.
  public func cancel(_ id: String, why: String) async throws -> Campaign {
    var campaign = try campaigns.campaign(id, in: try await campaigns.wholeTable())
    if let earlier = campaign.cancellation {
      throw OperationError(
        .usage, "\(earlier.by) cancelled its retries, \(earlier.at.rfc3339): \(earlier.why)", at: campaign.id,
        remedy: "nothing to do")
    }
    let cancellation = Campaign.Cancellation(at: clock.wallTime, by: author, why: why)
    try await campaigns.append([.cancellation(campaign: campaign.id, cancellation)])
    campaign.cancellation = cancellation
    return campaign
  }

  /// What is said before a cancellation.
  public static let cancellationWarning =
    "This stops Millrace's own retries. Apple's mass extension goes on: nobody can stop or undo it."
}
