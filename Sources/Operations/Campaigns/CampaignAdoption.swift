// Registers a mass extension that another tool started. Apple's failures name neither days nor reason, and Apple does not
// tell them later either, so they come from the operator. Apple confirms the identifier and the product.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
internal import MillraceRecords
package import RenewalExtensions

extension CampaignStart {
  /// Asks Apple about a mass extension to adopt.
  ///
  /// Apple is not asked about a campaign with ``Campaign/until``.
  /// - Returns: The campaign with Apple's status.
  /// - Throws: ``OperationError`` if the campaign is known, if Apple has no such extension, or if Apple's answer is
  ///   inconclusive; `APIError` if the request failed.
  package func adoptable(_ campaign: Campaign) async throws -> Campaign {
    try Self.require(campaign, of: client.bundleId)
    if let known = try await campaigns.wholeTable()[campaign.id] {
      throw OperationError(
        .usage, "the campaign is known and \(CampaignWords.state(known))", at: campaign.id,
        remedy: "see millrace campaigns show")
    }
    var adopted = campaign
    adopted.state = .accepted
    guard campaign.until == nil else { return adopted }
    switch try await news(of: campaign) {
    case .status(_, let time)?: adopted.seenAt = time
    case .completion(_, let completion)?: adopted.completion = completion
    default:
      throw OperationError(
        .usage, "Apple has no such mass extension of \(campaign.productId) in \(campaign.environment)",
        at: campaign.id,
        remedy: "compare identifier, product, app and environment with the program that requested it; without the "
          + "identifier, pass --without-status and --until")
    }
    if let end = adopted.completion?.at, end < campaign.requestedAt {
      throw OperationError(
        .usage, "Apple completed it at \(end.rfc3339), before \(campaign.requestedAt.rfc3339)", at: "--since",
        remedy: "pass the time at which it was requested")
    }
    return adopted
  }

  /// Registers a mass extension. Nothing is sent to Apple.
  ///
  /// - Parameters:
  ///   - campaign: The result of ``adoptable(_:)``.
  ///   - known: The overlapping campaigns that the operator has seen.
  package func adopt(_ campaign: Campaign, knowing known: [Campaign], why: String) async throws -> Result {
    let audit = CampaignAudit(campaigns: campaigns, clock: clock, action: .campaignAdopt, by: campaign.by, why: why)
    return try await audit.record(of: campaign, selection: campaign.adoptedSelection) {
      var records: [CampaignRecord] = []
      if let time = campaign.seenAt { records.append(.status(campaign: campaign.id, inProgressAt: time)) }
      if let completion = campaign.completion { records.append(.completion(campaign: campaign.id, completion)) }
      try await campaigns.append(records + [.campaign(campaign)])
      // If an operator starts an overlapping campaign at the same time, both find the other's, and neither continues.
      if let other = newcomer(to: campaign, knowing: known, in: try await campaigns.wholeTable()) {
        try await write(campaign, .refused)
        return .withdrawn(because: other)
      }
      return .adopted
    } end: {
      ($0.audited, [])
    }
  }
}

extension Campaign {
  /// The extension as the operator described it, for the audit trail.
  fileprivate var adoptedSelection: JSONObject {
    var json = auditSelection
    json["requestedAt"] = .string(requestedAt.rfc3339)
    json["until"] = until.map { .string($0.rfc3339) }
    return json
  }
}

/// The mass extension to adopt, shown to the operator for confirmation.
package struct CampaignAdoptionPlan: Sendable, Hashable {
  private let campaign: Campaign
  private let overlapping: [Campaign]
  private let waiting: Int

  /// Creates a plan.
  /// - Parameter waiting: The number of failures that become retries.
  package init(_ campaign: Campaign, overlapping: [Campaign], waiting: Int) {
    self.campaign = campaign
    self.overlapping = overlapping
    self.waiting = waiting
  }

  /// Rejects a plan whose failures could be confused with failures of other campaigns.
  /// - Parameter isAgreed: Whether the operator accepts an overlap.
  /// - Throws: ``OperationError`` that names the overlapping campaigns.
  package func check(isAgreed: Bool) throws(OperationError) {
    try CampaignPlan(campaign, overlapping).check(isAgreed: isAgreed)
  }

  /// The plan as text.
  package var lines: [String] {
    [
      "The mass extension of \(campaign.productId) (\(campaign.bundleId), \(campaign.environment.rawValue)):",
      "  \(CampaignWords.terms(campaign)), as you say",
      "  requested \(RecordView.seconds(campaign.requestedAt)), \(status)",
      "Its failures are retried with these days, now and later. Each retry e-mails a customer and cannot be undone.",
      waiting > 0 ? "\(HumanText.count(waiting, "failure")) without a campaign will be sent to the worker again." : nil,
    ].compactMap(\.self)
      + overlapping.map { other in
        "Overlaps with \(other.id), \(CampaignWords.terms(other)), \(CampaignWords.state(other))."
      }
  }

  private var status: String {
    if let until = campaign.until {
      return "over \(RecordView.seconds(until)), as you say; Apple was not asked whether it exists"
    }
    guard let completion = campaign.completion else { return "in progress, as Apple says" }
    return "completed \(RecordView.seconds(completion.at)), as Apple says: \(completion.failed) failed"
  }
}
