// Starting a mass extension so that it happens once: written down before Apple is asked, with the identifier that every
// try of it has, and looked for before it is asked for again.

public import AppStoreServerAPI
internal import AppStore
public import Clocks
public import Millrace
public import RenewalExtensions

/// Starts campaigns of one app.
public struct CampaignStart: Sendable {
  let campaigns: CampaignLog
  let client: AppStoreServerClient
  let clock: MillraceClock

  /// Starts campaigns.
  public init(_ campaigns: CampaignLog, client: AppStoreServerClient, clock: MillraceClock) {
    self.campaigns = campaigns
    self.client = client
    self.clock = clock
  }

  /// An identifier for a new campaign.
  public static func newID() -> String { CommandID.new() }

  /// What came of asking Apple.
  public enum Result: Sendable, Hashable {
    /// Apple took it.
    case accepted
    /// Apple has it from an earlier try.
    case known
    /// Apple may have it: resume it.
    case unclear(String)
    /// Apple does not take it.
    case refused(String)
    /// Apple was not asked, or was too busy; resume it.
    case notSent(String)
    /// Another campaign was started at the same moment: Apple was not asked.
    case withdrawn(because: Campaign)
  }

  /// The campaigns that failures of this one could be taken for. Of those that are under way Apple is asked first whether
  /// they are done.
  public func overlapping(_ campaign: Campaign) async throws -> [Campaign] {
    var overlapping: [Campaign] = []
    for other in try await campaigns.wholeTable().campaigns where other.overlaps(campaign) {
      let present = other.completion == nil ? try await refresh(other) : other
      if present.overlaps(campaign) { overlapping.append(present) }
    }
    return overlapping
  }

  /// Starts a campaign that nobody has started.
  /// - Parameter known: The campaigns that the operator was told of.
  public func start(_ campaign: Campaign, knowing known: [Campaign]) async throws -> Result {
    try await campaigns.append([.campaign(campaign)])
    // Of two operators who ask at one moment both find the other's here, and none goes on.
    let others = try await campaigns.wholeTable().campaigns.filter { $0.overlaps(campaign) }
    if let other = others.first(where: { other in !known.contains { $0.id == other.id } }) {
      try await write(campaign, .refused)
      return .withdrawn(because: other)
    }
    return try await ask(campaign, isRepeat: false)
  }

  /// Goes on with a campaign whose start was interrupted: the same identifier, and only if Apple does not know it.
  /// - Throws: ``OperationError`` for one that needs no resuming, or of another app than the client's; `APIError` where
  ///   Apple could not be asked.
  public func resume(_ id: String) async throws -> (Campaign, Result) {
    let campaign = try campaigns.campaign(id, in: try await campaigns.wholeTable())
    guard campaign.state == .requested || campaign.state == .unclear else {
      throw OperationError(
        .usage, "this campaign is \(CampaignWords.state(campaign))", at: campaign.id,
        remedy: "start another one, or look at it with millrace campaigns show")
    }
    // Another app's key finds nothing of this one's.
    try Self.require(campaign, of: client.bundleId)
    do {
      _ = try await status(of: campaign)
      try await write(campaign, .accepted)
      return (campaign, .known)
    } catch let error as APIError where error.code == .statusRequestNotFound {
      return (campaign, try await ask(campaign, isRepeat: true))
    }
  }

  /// - Throws: ``OperationError`` where the campaign is another app's.
  static func require(_ campaign: Campaign, of bundleId: String) throws(OperationError) {
    guard campaign.bundleId == bundleId else {
      throw OperationError(
        .usage, "this campaign is about \(campaign.bundleId), not \(bundleId)", at: campaign.id,
        remedy: "leave --app out: the campaign says which app it is about")
    }
  }

  /// The app that a campaign is about.
  /// - Parameter named: The one that the operator named; nil: none.
  /// - Throws: ``OperationError`` where they named another; `MillraceError` where it is not configured.
  public static func app(
    of campaign: Campaign, named: String?, in configuration: MillraceConfiguration
  ) throws -> APIApp {
    if let named { try require(campaign, of: named) }
    return try APIApp(app: campaign.bundleId, environment: campaign.environment.rawValue, in: configuration)
  }

  /// Asks Apple whether a campaign is done, and writes it down when it is.
  public func refresh(_ campaign: Campaign) async throws -> Campaign {
    guard campaign.completion == nil, campaign.state != .refused else { return campaign }
    do {
      guard let completion = try await status(of: campaign) else { return campaign }
      try await campaigns.append([.completion(campaign: campaign.id, completion)])
      var campaign = campaign
      campaign.completion = completion
      return campaign
    } catch let error as APIError where error.code == .statusRequestNotFound {
      // Apple has no such request, or not yet: as far as anybody knows it is under way.
      return campaign
    }
  }

  /// Nil where Apple is at it.
  private func status(of campaign: Campaign) async throws -> Campaign.Completion? {
    let status = try await client.getStatusOfSubscriptionRenewalDateExtensions(
      productId: campaign.productId, requestIdentifier: campaign.id, in: campaign.environment
    ).value
    guard status.complete == true, let date = status.completeDate else { return nil }
    return Campaign.Completion(
      at: date, succeeded: status.succeededCount ?? 0, failed: status.failedCount ?? 0)
  }

  /// - Parameter isRepeat: Whether Apple may have it from an earlier try. What Apple says to a repeat, whatever it is but
  ///   yes, says nothing about that one.
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

  private func write(_ campaign: Campaign, _ state: Campaign.State, code: Int64? = nil) async throws {
    var campaign = campaign
    campaign.state = state
    campaign.code = code
    try await campaigns.append([.campaign(campaign)])
  }
}

extension CampaignStart.Result {
  /// What the operator is told.
  public func sentence(_ campaign: Campaign) -> String {
    let resume = "resume it, with the same identifier: millrace campaigns start --resume \(campaign.id)"
    return switch self {
    case .accepted: "Apple took the campaign \(campaign.id). It may take days; millrace campaigns show \(campaign.id)"
    case .known: "Apple has the campaign \(campaign.id) from an earlier try; nothing was sent again."
    case .unclear(let why): "Apple may have the campaign \(campaign.id): \(why); \(resume)"
    case .refused(let why): "Apple refused the campaign \(campaign.id): \(why)"
    case .notSent(let why): "The campaign \(campaign.id) was not started: \(why); \(resume)"
    case .withdrawn(let other):
      "Not started: \(other.by) started \(other.id) for the same subscribers at the same moment. Apple was not asked."
    }
  }

  /// How the command ends.
  public var status: CommandStatus {
    switch self {
    case .accepted, .known: .success
    case .unclear, .refused, .notSent, .withdrawn: .failure
    }
  }
}

/// What is about to be done, for the operator to agree to.
public struct CampaignPlan: Sendable, Hashable {
  private let campaign: Campaign
  private let overlapping: [Campaign]

  /// A plan.
  public init(_ campaign: Campaign, _ overlapping: [Campaign]) {
    self.campaign = campaign
    self.overlapping = overlapping
  }

  /// What is shown.
  public var lines: [String] {
    [
      "Every active subscriber of \(campaign.productId) (\(campaign.bundleId), \(campaign.environment.rawValue)):",
      "  \(CampaignWords.terms(campaign))",
      "  requestIdentifier \(campaign.id)",
      "Apple extends a subscription twice in 365 days at most, and sends each customer an e-mail. It cannot be undone.",
    ]
      + overlapping.map { other in
        "At the same time: \(other.id), \(CampaignWords.terms(other)), \(CampaignWords.state(other))."
      }
  }
}
