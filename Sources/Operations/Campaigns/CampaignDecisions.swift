// An operator's decisions about a running campaign: which failures belong to it, and when its retries end.

internal import AppStore
package import MillraceTime
internal import MillraceRecords
package import RenewalExtensions

/// Assigns failures to campaigns and cancels campaigns.
package struct CampaignDecisions: Sendable {
  let campaigns: CampaignLog
  let operations: WorkerOperations
  let author: String
  let clock: MillraceClock

  /// The reasons of dead letters that need a decision.
  static let reasons: Set<String> = ["campaign-not-found", "campaign-ambiguous", "campaign-status-unknown"]

  /// Creates the decisions of one operator.
  /// - Throws: ``OperationError`` does not occur in practice.
  package init(_ campaigns: CampaignLog, author: String, clock: MillraceClock = .system) throws(OperationError) {
    self.campaigns = campaigns
    self.author = author
    self.clock = clock
    operations = try WorkerOperations(
      worker: RenewalExtensionsWorker.name, prefix: campaigns.prefix, on: campaigns.log, author: author, clock: clock)
  }

  /// Returns the failures that an operator may assign to a campaign.
  ///
  /// - Parameter ids: The IDs of dead letters; empty: the open ones that match this campaign and at least one other.
  /// - Throws: ``OperationError`` for an ID that is not an open dead letter about a campaign.
  package func candidates(
    for id: String, among ids: [DeadLetterID]
  ) async throws -> (campaign: Campaign, letters: [DeadLetterEntry]) {
    let campaign = try campaigns.campaign(id, in: try await campaigns.wholeTable())
    let open = try await operations.deadLetters(reasons: Self.reasons, isOpenOnly: true)
    guard !ids.isEmpty else {
      return (campaign, open.filter { $0.reason == "campaign-ambiguous" && $0.detail.contains(campaign.id) })
    }
    let letters = try ids.map { id throws(OperationError) in
      guard let letter = open.first(where: { $0.id == id }) else {
        throw OperationError(
          .usage, "not an open dead letter about a campaign", at: "\(id)",
          remedy: "copy an id from millrace dead-letters list --worker \(RenewalExtensionsWorker.name) --open")
      }
      return letter
    }
    return (campaign, letters)
  }

  /// Returns the failures that became dead letters because this campaign was unknown.
  package func unmatched(by campaign: Campaign) async throws -> [DeadLetterEntry] {
    let words = CampaignMatch.absence(of: campaign.productId, in: campaign.environment)
    return try await operations.deadLetters(reasons: ["campaign-not-found"], isOpenOnly: true).filter {
      $0.bundleId == campaign.bundleId && $0.detail.contains(words)
    }
  }

  /// Sends the failures that became dead letters because this campaign was unknown to the worker again, which looks for
  /// their campaign.
  ///
  /// Lists them again after each pass, because a handler may have read the campaigns just before this one was written.
  /// A failure that becomes a dead letter again belongs to another campaign, so each failure is sent once.
  ///
  /// - Parameters:
  ///   - campaign: A campaign that the topic has.
  ///   - patience: The maximum time without an answer from the lanes' owners.
  ///   - report: Receives the result of each failure.
  package func requeueUnmatched(
    by campaign: Campaign, why: String, patience: Duration,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    var (total, sent) = (OperationSummary(), Set<String>())
    while total.unanswered + total.withheld == 0 {
      let letters = try await unmatched(by: campaign).filter { !sent.contains($0.failureName) }
      guard !letters.isEmpty else { break }
      sent.formUnion(letters.map(\.failureName))
      total.add(try await operations.requeue(letters.map(\.id), why: why, patience: patience, report: report))
    }
    return total
  }

  /// Assigns failures to the campaign and requeues them.
  ///
  /// - Parameters:
  ///   - patience: The maximum time without an answer from the lanes' owners.
  ///   - report: Receives the result of each failure.
  package func resolve(
    _ letters: [DeadLetterEntry], to campaign: Campaign, why: String, patience: Duration,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    let notifications = letters.compactMap(\.notificationID)
    let size = CampaignResolution.maximumCount
    return try await audit(.campaignResolve, why: why).record(
      of: campaign, selection: ["deadLetters": .array(letters.map { .string("\($0.id)") })]
    ) {
      // Acknowledged before the first requeue, because the worker reads the assignment when it retries the failure.
      try await campaigns.append(
        stride(from: 0, to: notifications.count, by: size).map { start in
          .resolution(
            CampaignResolution(
              id: CommandID.new(), campaign: campaign.id,
              notifications: Array(notifications[start..<min(start + size, notifications.count)]),
              at: clock.wallTime, by: author, why: why))
        })
      return try await operations.requeue(letters.map(\.id), why: why, patience: patience, report: report)
    } end: { summary in
      (summary.withheld > 0 ? .stopped : .done, [AuditRecord.Count("resolved", Int64(notifications.count))])
    }
  }

  private func audit(_ action: AuditRecord.Action, why: String) -> CampaignAudit {
    CampaignAudit(campaigns: campaigns, clock: clock, action: action, by: author, why: why)
  }

  /// Ends the retries of a campaign. Apple's own extension continues.
  /// - Throws: ``OperationError`` if the retries were already cancelled.
  package func cancel(_ id: String, why: String) async throws -> Campaign {
    var campaign = try campaigns.campaign(id, in: try await campaigns.wholeTable())
    if let earlier = campaign.cancellation {
      throw OperationError(
        .usage, "\(earlier.by) already cancelled the retries at \(earlier.at.rfc3339): \(earlier.why)", at: campaign.id,
        remedy: "nothing to do")
    }
    // A cancellation counts only if it is not earlier than the adoption, whose time another machine's clock gave.
    let time = max(clock.wallTime, campaign.adoptedAt ?? clock.wallTime)
    let cancellation = Campaign.Cancellation(at: time, by: author, why: why)
    try await audit(.campaignCancel, why: why).record(of: campaign, selection: campaign.auditSelection) {
      try await campaigns.append([.cancellation(campaign: campaign.id, cancellation)])
    } end: {
      (.done, [])
    }
    campaign.cancellation = cancellation
    return campaign
  }

  /// The warning before a cancellation.
  package static let cancellationWarning =
    "This stops Millrace's own retries. Apple's mass extension continues; it cannot be stopped or undone."
}

extension DeadLetterEntry {
  /// The name of the failure, which stays the same if it becomes a dead letter again.
  fileprivate var failureName: String { notificationID ?? "\(id)" }
}
