// Starts a mass extension exactly once. The campaign is written to Kafka before the request to Apple, every attempt
// sends the same identifier, and a new attempt first asks Apple whether it has the campaign.

package import AppStoreServerAPI
internal import AppStore
package import MillraceTime
package import MillraceCore
internal import MillraceRecords
package import RenewalExtensions

/// Starts the campaigns of one app.
package struct CampaignStart: Sendable {
  let campaigns: CampaignLog
  let client: AppStoreServerClient
  let clock: MillraceClock

  /// Creates a starter of campaigns.
  package init(_ campaigns: CampaignLog, client: AppStoreServerClient, clock: MillraceClock) {
    self.campaigns = campaigns
    self.client = client
    self.clock = clock
  }

  /// Creates an identifier for a new campaign.
  package static func newID() -> String { CommandID.new() }

  /// The result of a request to Apple.
  package enum Result: Sendable, Hashable {
    /// Apple accepted the campaign.
    case accepted
    /// Apple accepted it in an earlier attempt.
    case known
    /// Apple may have accepted it. The operator has to resume it.
    case unclear(String)
    /// Apple refused it.
    case refused(String)
    /// The request was not sent, or Apple was too busy. The operator has to resume it.
    case notSent(String)
    /// A mass extension that another tool had started is registered. No request was sent.
    case adopted
    /// Another campaign started at the same time. No request was sent.
    case withdrawn(because: Campaign)
  }

  /// The campaigns whose failures could be confused with failures of this one. Asks Apple first whether the running
  /// ones have completed.
  package func overlapping(_ campaign: Campaign) async throws -> [Campaign] {
    var overlapping: [Campaign] = []
    for other in try await campaigns.wholeTable().campaigns where other.overlaps(campaign) {
      let present = other.completion == nil ? try await refresh(other) : other
      if present.overlaps(campaign) { overlapping.append(present) }
    }
    return overlapping
  }

  /// Starts a new campaign.
  /// - Parameter known: The overlapping campaigns that the operator has seen.
  package func start(_ campaign: Campaign, knowing known: [Campaign]) async throws -> Result {
    try await audited(.campaignStart, campaign, by: campaign.by) {
      try await campaigns.append([.campaign(campaign)])
      // If two operators start campaigns at the same time, both find the other's here and neither continues.
      if let other = newcomer(to: campaign, knowing: known, in: try await campaigns.wholeTable()) {
        try await write(campaign, .refused)
        return .withdrawn(because: other)
      }
      return try await ask(campaign, isRepeat: false)
    }
  }

  /// Finds a campaign whose start can be resumed.
  ///
  /// - Parameter id: The full ID.
  /// - Throws: ``OperationError`` if the ID is unknown, if the campaign needs no resuming or is over, or if its retries
  ///   were cancelled.
  package static func resumable(_ id: String, in campaigns: CampaignLog) async throws -> Campaign {
    let campaign = try campaigns.campaign(exactly: id, in: try await campaigns.wholeTable())
    if let cancellation = campaign.cancellation {
      throw OperationError(
        .usage,
        "\(cancellation.by) cancelled the campaign at \(cancellation.at.rfc3339): \(cancellation.why)", at: campaign.id,
        remedy: "start a new campaign if you still need one")
    }
    guard campaign.completion == nil, campaign.state == .requested || campaign.state == .unclear else {
      throw OperationError(
        .usage, "the campaign is already \(CampaignWords.state(campaign))", at: campaign.id,
        remedy: "start a new campaign, or see millrace campaigns show")
    }
    return campaign
  }

  /// Asks Apple for a campaign whose start was interrupted, without sending it.
  ///
  /// - Returns: ``Result/known``, after marking the campaign as accepted; `nil` if Apple does not have it.
  /// - Throws: ``OperationError`` if the campaign belongs to another app than the client, or if Apple's answer is
  ///   inconclusive; `APIError` if the request failed.
  package func find(_ campaign: Campaign, by author: String) async throws -> Result? {
    // With another app's key, Apple would not find this campaign.
    try Self.require(campaign, of: client.bundleId)
    guard let news = try await news(of: campaign) else { return nil }
    return try await audited(.campaignResume, campaign, by: author) { try await accept(campaign, news) }
  }

  /// Resumes a campaign whose start was interrupted. Sends the same identifier, and only if Apple does not have it.
  ///
  /// - Parameters:
  ///   - author: The operator.
  ///   - known: The overlapping campaigns that the operator has seen.
  /// - Throws: ``OperationError`` like ``resumable(_:in:)`` and ``find(_:by:)``; `APIError` if the request failed.
  package func resume(
    _ id: String, by author: String, knowing known: [Campaign]
  ) async throws -> (Campaign, Result) {
    var campaign = try await Self.resumable(id, in: campaigns)
    try Self.require(campaign, of: client.bundleId)
    let result = try await audited(.campaignResume, campaign, by: author) {
      if let news = try await news(of: campaign) { return try await accept(campaign, news) }
      // Apple does not have the campaign, so earlier failures cannot belong to it.
      campaign.resumedAt = clock.wallTime
      try await campaigns.append([.campaign(campaign)])
      // Check again: another operator may have cancelled or resumed the campaign during the request to Apple.
      _ = try await Self.resumable(campaign.id, in: campaigns)
      if let other = newcomer(to: campaign, knowing: known, in: try await campaigns.wholeTable()) {
        return .withdrawn(because: other)
      }
      return try await ask(campaign, isRepeat: true)
    }
    return (campaign, result)
  }

  /// An overlapping campaign that the operator has not seen.
  func newcomer(to campaign: Campaign, knowing known: [Campaign], in table: CampaignTable) -> Campaign? {
    table.campaigns.first { other in other.overlaps(campaign) && !known.contains { $0.id == other.id } }
  }

  /// The record to write for a campaign that Apple has; nil if Apple does not have it.
  func news(of campaign: Campaign) async throws -> CampaignRecord? {
    let time = clock.wallTime
    switch try await CampaignStatus.of(campaign, askedOf: client) {
    case .inProgress: return .status(campaign: campaign.id, inProgressAt: time)
    case .complete(let completion): return .completion(campaign: campaign.id, completion)
    case .notFound: return nil
    case .undetermined(let why):
      throw OperationError(
        .failed, "could not find out whether Apple has the campaign: \(why)", at: campaign.id,
        remedy: "try again later")
    }
  }

  private func accept(_ campaign: Campaign, _ news: CampaignRecord) async throws -> Result {
    try await campaigns.append([news])
    try await write(campaign, .accepted)
    return .known
  }

  private func audited(
    _ action: AuditRecord.Action, _ campaign: Campaign, by author: String, _ work: () async throws -> Result
  ) async throws -> Result {
    try await CampaignAudit(campaigns: campaigns, clock: clock, action: action, by: author).record(
      of: campaign, selection: campaign.auditSelection, work
    ) { ($0.audited, []) }
  }

  /// - Throws: ``OperationError`` if the campaign belongs to another app.
  static func require(_ campaign: Campaign, of bundleId: String) throws(OperationError) {
    guard campaign.bundleId == bundleId else {
      throw OperationError(
        .usage, "the campaign belongs to \(campaign.bundleId), not \(bundleId)", at: campaign.id,
        remedy: "remove --app; the campaign determines the app")
    }
  }

  /// The app of a campaign.
  /// - Parameter named: The app that the operator named; nil if none.
  /// - Throws: ``OperationError`` if the operator named another app; `MillraceError` if the app is not configured.
  package static func app(
    of campaign: Campaign, named: String?, in configuration: MillraceConfiguration
  ) throws -> APIApp {
    if let named { try require(campaign, of: named) }
    return try APIApp(app: campaign.bundleId, environment: campaign.environment.rawValue, in: configuration)
  }

  /// Asks Apple whether a campaign has completed, and records the completion.
  package func refresh(_ campaign: Campaign) async throws -> Campaign {
    guard campaign.completion == nil, campaign.state != .refused else { return campaign }
    // If Apple does not know the request, or not yet, the campaign counts as running.
    guard case .complete(let completion) = try await CampaignStatus.of(campaign, askedOf: client) else {
      return campaign
    }
    try await campaigns.append([.completion(campaign: campaign.id, completion)])
    var campaign = campaign
    campaign.completion = completion
    return campaign
  }

  /// - Parameter isRepeat: Whether Apple may have accepted an earlier attempt. Only a success then says anything about
  ///   the earlier attempt.
  private func ask(_ campaign: Campaign, isRepeat: Bool) async throws -> Result {
    do {
      _ = try await client.extendRenewalDateForAllActiveSubscribers(campaign.request, in: campaign.environment)
    } catch {
      if error.isUnclear || isRepeat {
        try await write(campaign, .unclear)
        return .unclear("\(error)")
      }
      guard error.errorClass == .never else { return .notSent("\(error)") }
      try await write(campaign, .refused, code: error.code.map { Int64($0.rawValue) })
      return .refused("\(error)")
    }
    try await write(campaign, .accepted)
    return .accepted
  }

  func write(_ campaign: Campaign, _ state: Campaign.State, code: Int64? = nil) async throws {
    var campaign = campaign
    campaign.state = state
    campaign.code = code
    try await campaigns.append([.campaign(campaign)])
  }
}

extension CampaignStart.Result {
  /// The result as a sentence for the operator.
  package func sentence(_ campaign: Campaign) -> String {
    let resume = "resume it with the same identifier: millrace campaigns start --resume \(campaign.id)"
    return switch self {
    case .accepted: "Apple accepted \(campaign.id). It may take days; see millrace campaigns show \(campaign.id)"
    case .known: "Apple already has the campaign \(campaign.id); nothing was sent."
    case .adopted: "Adopted \(campaign.id); its failures are retried. See millrace campaigns show \(campaign.id)"
    case .unclear(let why): "Apple may have accepted the campaign \(campaign.id): \(why); \(resume)"
    case .refused(let why): "Apple refused the campaign \(campaign.id): \(why)"
    case .notSent(let why): "The campaign \(campaign.id) was not started: \(why); \(resume)"
    case .withdrawn(let other):
      "Not started: \(other.by) started \(other.id) for the same subscribers at the same time. Nothing was sent."
    }
  }

  /// The exit status of the command.
  package var status: CommandStatus {
    switch self {
    case .accepted, .known, .adopted: .success
    case .unclear, .refused, .notSent, .withdrawn: .failure
    }
  }
}

/// The planned campaign, shown to the operator for confirmation.
package struct CampaignPlan: Sendable, Hashable {
  private let campaign: Campaign
  private let overlapping: [Campaign]
  private let isResumed: Bool

  /// Creates a plan.
  /// - Parameter isResumed: Whether an earlier campaign is sent again.
  package init(_ campaign: Campaign, _ overlapping: [Campaign], isResumed: Bool = false) {
    self.campaign = campaign
    self.overlapping = overlapping
    self.isResumed = isResumed
  }

  /// Rejects a plan whose failures could be confused with failures of other campaigns.
  /// - Parameter isAgreed: Whether the operator accepts an overlap.
  /// - Throws: ``OperationError`` that names the overlapping campaigns.
  package func check(isAgreed: Bool) throws(OperationError) {
    guard !isAgreed, !overlapping.isEmpty else { return }
    let others = overlapping.map(\.id).joined(separator: ", ")
    throw OperationError(
      .usage,
      isResumed
        ? "later campaigns extended, or may extend, the same subscribers: \(others)"
        : "its failures could not be distinguished from failures of \(others)",
      at: "--overlap",
      remedy: isResumed
        ? "check them with millrace campaigns show; to extend these subscribers anyway, pass --overlap"
        : "wait for their completion, or pass --overlap and run millrace campaigns resolve")
  }

  /// The plan as text.
  package var lines: [String] {
    [
      "Every active subscriber of \(campaign.productId) (\(campaign.bundleId), \(campaign.environment.rawValue)):",
      "  \(CampaignWords.terms(campaign))",
      "  requestIdentifier \(campaign.id)",
      isResumed
        ? "  first requested \(RecordView.seconds(campaign.requestedAt)) by \(campaign.by); Apple does not have it"
        : nil,
      "Apple extends a subscription twice in 365 days at most, and e-mails each customer. This cannot be undone.",
    ].compactMap(\.self)
      + overlapping.map { other in
        "Overlaps with \(other.id), \(CampaignWords.terms(other)), \(CampaignWords.state(other))."
      }
  }
}
