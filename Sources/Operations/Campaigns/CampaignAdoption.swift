// Registers a mass extension that another tool started. Apple's failures name neither days nor reason, and Apple does not
// tell them later either, so they come from the operator. Apple confirms the identifier and the product.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
internal import MillraceRecords
package import RenewalExtensions

extension CampaignStart {
  /// Returns the accepted campaign that an operator describes; nil if there is none. Only its failures are left to do.
  ///
  /// A campaign with ``Campaign/until`` is recognized by its terms, because each attempt without an identifier makes a
  /// new one.
  package func adopted(_ campaign: Campaign) async throws -> Campaign? {
    try Self.require(campaign, of: client.bundleId)
    return try await campaigns.wholeTable().campaigns.first { known in
      (known.id == campaign.id || campaign.until != nil) && known.state == .accepted && known.cancellation == nil
        && known.isDescribed(like: campaign)
    }
  }

  /// Asks Apple about a mass extension to adopt.
  ///
  /// Apple is not asked about a campaign with ``Campaign/until``.
  /// - Returns: The campaign with Apple's status.
  /// - Throws: ``OperationError`` if the campaign is known, unless it is refused, or cancelled before any retry; if Apple
  ///   has no such extension, or if Apple's answer is inconclusive; `APIError` if the request failed.
  package func adoptable(_ campaign: Campaign) async throws -> Campaign {
    try Self.require(campaign, of: client.bundleId)
    var adopted = campaign
    adopted.state = .accepted
    adopted.adoptedAt = clock.wallTime
    if let known = try await campaigns.wholeTable()[campaign.id] {
      try await checkReplaceable(known)
      // Later than the cancellation, whose time another machine's clock gave.
      let cancelled = known.cancellation.map { $0.at + .milliseconds(1) } ?? clock.wallTime
      adopted.adoptedAt = max(clock.wallTime, cancelled)
      adopted.cancellation = known.cancellation
    }
    guard campaign.until == nil else { return adopted }
    switch try await news(of: adopted) {
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

  /// - Throws: ``OperationError`` if other terms must not replace the terms of a known campaign.
  private func checkReplaceable(_ known: Campaign) async throws {
    guard known.state != .refused else { return }
    let terms = "\(CampaignWords.terms(known)), requested \(known.requestedAt.rfc3339)"
    func refusal(_ remedy: String) -> OperationError {
      OperationError(
        .usage, "the campaign is known and \(CampaignWords.state(known)): \(terms)", at: known.id, remedy: remedy)
    }
    if known.cancellation != nil {
      let begun = try await campaigns.progress(of: known.id).begun
      guard begun > 0 else { return }
      throw refusal(
        "the terms cannot change, because \(HumanText.count(Int(begun), "retry", plural: "retries")) had begun before the "
          + "cancellation; extend further customers with millrace api extend")
    }
    guard known.state == .accepted else { throw refusal("run millrace campaigns start --resume \(known.id)") }
    throw refusal(
      "to retry its failures, run millrace dead-letters requeue --worker \(RenewalExtensionsWorker.name) --reason "
        + "campaign-not-found; if the terms are wrong, run millrace campaigns cancel \(known.id) and adopt it again")
  }

  /// Checks again whether a campaign may be registered, because another operator may have adopted or cancelled it while
  /// this one read the question.
  /// - Returns: Whether another operator has adopted it with the same terms.
  private func isAdopted(_ campaign: Campaign) async throws -> Bool {
    guard let known = try await campaigns.wholeTable()[campaign.id] else { return false }
    if known.state == .accepted, known.cancellation == nil, known.isDescribed(like: campaign) { return true }
    try await checkReplaceable(known)
    // Compared with the one that this operator has seen, because the time is another machine's.
    if let cancellation = known.cancellation, cancellation != campaign.cancellation {
      throw OperationError(
        .usage, "\(cancellation.by) cancelled it at \(cancellation.at.rfc3339): \(cancellation.why)", at: known.id,
        remedy: "if it is right, run the command again")
    }
    return false
  }

  /// An adoption without an end that began earlier was killed.
  private static let longestAdoption = Duration.seconds(600)

  /// Registers a mass extension. Nothing is sent to Apple.
  ///
  /// - Parameters:
  ///   - campaign: The result of ``adoptable(_:)``.
  ///   - known: The overlapping campaigns that the operator has seen.
  /// - Throws: ``OperationError`` if another operator has changed the campaign since.
  package func adopt(_ campaign: Campaign, knowing known: [Campaign], why: String) async throws -> Result {
    let audit = CampaignAudit(campaigns: campaigns, clock: clock, action: .campaignAdopt, by: campaign.by, why: why)
    return try await audit.record(of: campaign, selection: campaign.adoptedSelection) {
      // Each adoption reads after the audit trail has it, so of two at the same time at least one sees the other.
      let running = try await AuditLog(on: campaigns.log, prefix: campaigns.prefix).trail().entries.last { entry in
        entry.action == .campaignAdopt && entry.target == campaign.id && !entry.isOver
          && entry.selection != campaign.adoptedSelection
          && entry.startedAt > clock.wallTime - Self.longestAdoption
      }
      if let running {
        throw OperationError(
          .usage, "\(running.by) adopts it with other terms at the same time", at: campaign.id,
          remedy: "agree on the terms, then run the command again")
      }
      if try await isAdopted(campaign) { return .adopted }
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
  /// Whether an operator described both in the same way.
  fileprivate func isDescribed(like other: Campaign) -> Bool {
    bundleId == other.bundleId && environment == other.environment && productId == other.productId && days == other.days
      && reason == other.reason && storefronts.map(Set.init) == other.storefronts.map(Set.init)
      && requestedAt == other.requestedAt && until == other.until
  }

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
  private let isKnown: Bool

  /// Creates a plan.
  /// - Parameters:
  ///   - waiting: The number of failures that become retries.
  ///   - isKnown: Whether the campaign is the result of ``CampaignStart/adopted(_:)``.
  package init(_ campaign: Campaign, overlapping: [Campaign], waiting: Int, isKnown: Bool = false) {
    self.campaign = campaign
    self.overlapping = overlapping
    self.waiting = waiting
    self.isKnown = isKnown
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
    if isKnown { return "known as \(campaign.id) and \(CampaignWords.state(campaign)); only its failures are left" }
    if let until = campaign.until {
      return "over \(RecordView.seconds(until)), as you say; Apple was not asked whether it exists"
    }
    guard let completion = campaign.completion else { return "in progress, as Apple says" }
    return "completed \(RecordView.seconds(completion.at)), as Apple says: \(completion.failed) failed"
  }
}
