// The worker: what becomes of each notification about extensions. Extensions cannot be undone and customers get an e-mail,
// so in doubt nothing is called.

internal import AppStore
internal import AppStoreServerAPI
internal import Clocks
internal import Logging
public import Millrace

/// Tries again what a mass extension did not reach, with the days and the reason of its campaign.
public struct RenewalExtensionsWorker: NotificationWorker {
  /// Names its topics and its group.
  public static let name = "renewal-extensions"
  /// What it reads.
  public static let families: Set<NotificationFamily> = [.renewalExtensions]
  /// What it writes besides its events: when a campaign was completed.
  public static let tables: Set<String> = [CampaignRecord.topic]

  /// Apple has been away for a day; a failure is worth a try for longer.
  public static var policy: WorkerPolicy {
    var policy = WorkerPolicy()
    policy.maximumAttempts = 24
    return policy
  }

  /// How long after its completion a campaign is compared with what was seen: Apple's last retry of a notification comes
  /// after 157 hours.
  static let reconciliationDelay = Duration.seconds(7 * 86_400)
  private static let timerPrefix = "differs/"
  private static let comparedPrefix = "compared/"

  private let campaigns: TopicTable<CampaignTable>

  /// Reads the campaigns once, so that a topic that is missing is found at start.
  public init(_ setup: WorkerSetup) async throws {
    campaigns = try setup.table(CampaignRecord.topic, CampaignTable()) { $0.fold($1) }
    let table = try await campaigns.current()
    if !table.unreadable.isEmpty {
      setup.logger.error(
        "campaigns that this version cannot read: failures wait until it can",
        metadata: ["keys": "\(table.unreadable.sorted().prefix(10))"])
    }
  }

  /// Decides about a notification.
  public func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome {
    switch notification.event {
    case .renewalExtension(.failure): try await failed(notification, context)
    case .renewalExtension(.summary): try await summed(notification, context)
    case .renewalExtended: try await extended(notification, context)
    default: .ignore
    }
  }

  /// Compares a campaign with what Apple counted.
  public func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    guard timer.name.hasPrefix(Self.timerPrefix) else { return .ignore }
    let id = String(timer.name.dropFirst(Self.timerPrefix.count))
    guard let campaign = try await campaigns.current()[id], let completion = campaign.completion else {
      return .ignore
    }
    // Run again, a summary that comes out otherwise sets the timer again: it was compared in its time.
    let compared = Self.comparedPrefix + id
    guard try await context.state(compared) == nil else { return .ignore }
    let prefixes = CampaignProgress.prefixes(of: id)
    let progress = CampaignProgress(try await context.tally(of: prefixes), of: id)
    guard !progress.agrees(with: completion) else { return .ignore.keeping(compared, [1]) }
    return try Outcome.emit(
      CampaignDiffers(
        about: EventFacts(campaign),
        details: .init(
          apple: .init(succeeded: completion.succeeded, failed: completion.failed),
          seen: .init(
            extended: progress.extended, shared: progress.shared, ambiguous: progress.ambiguous,
            failures: progress.failures, waiting: progress.waiting)))
    ).keeping(compared, [1])
  }
}

// RENEWAL_EXTENSION/FAILURE.
extension RenewalExtensionsWorker {
  private func failed(_ notification: Notification, _ context: HandlerContext) async throws -> Outcome {
    guard let transaction = notification.transaction, let subject = ExtensionSubject(notification) else {
      return .deadLetter("subscription-not-named", "the failure names no subscription, or no app; ask Apple about it")
    }
    // Read to its end each time: a campaign or a cancellation that was written a moment ago counts.
    let table = try await campaigns.current()
    guard table.unreadable.isEmpty else { return .retry(after: .seconds(600), because: "campaigns-unreadable") }
    switch try campaign(of: subject, notification.id, in: table) {
    case .none:
      return .deadLetter(
        "campaign-not-found",
        """
        no campaign for \(subject.productId) in \(subject.environment) that was under way at \
        \(subject.signedDate.rfc3339); say which with millrace campaigns resolve
        """)
    case .several(let campaigns):
      return .deadLetter(
        "campaign-ambiguous",
        """
        fits \(campaigns.map(\.id).joined(separator: " and ")); say which with millrace campaigns resolve
        """)
    case .one(let campaign):
      return try await retry(campaign, subject, transaction, context)
    }
  }

  /// What an operator said goes before what fits.
  private func campaign(
    of subject: ExtensionSubject, _ notification: String, in table: CampaignTable
  ) throws(PermanentFailure) -> CampaignMatch {
    guard let id = table.resolution(of: notification) else { return table.match(subject) }
    guard let campaign = table[id], campaign.state != .refused, campaign.isAbout(subject) else {
      throw PermanentFailure(
        "campaign-mismatch", "an operator named campaign \(id), which is not about this subscription")
    }
    return .one(campaign)
  }

  private func retry(
    _ campaign: Campaign, _ subject: ExtensionSubject, _ transaction: JWSTransactionDecodedPayload,
    _ context: HandlerContext
  ) async throws -> Outcome {
    let retry = ExtensionRetry(campaign: campaign, subject: subject, before: transaction, context: context)
    if let cancellation = campaign.cancellation {
      guard let answer = try await retry.end() else { return try withheld(campaign, subject, cancellation) }
      return try answer.event(campaign, subject)
    }
    return try await retry.run().event(campaign, subject)
  }

  private func withheld(
    _ campaign: Campaign, _ subject: ExtensionSubject, _ cancellation: Campaign.Cancellation
  ) throws -> Outcome {
    try Outcome.emit(
      ExtensionWithheld(
        about: EventFacts(campaign, subject), details: .init(by: cancellation.by, why: cancellation.why))
    ).counting(CampaignProgress.withheld(campaign.id))
  }
}

// RENEWAL_EXTENDED and RENEWAL_EXTENSION/SUMMARY.
extension RenewalExtensionsWorker {
  /// Counts what the mass extension reached. What answers a call of ours is known by its effect: the intent is written
  /// before the call, in this lane.
  private func extended(_ notification: Notification, _ context: HandlerContext) async throws -> Outcome {
    guard let transaction = notification.transaction, let subject = ExtensionSubject(notification) else {
      return .ignore
    }
    // A retry may come long after its campaign's window, and in another campaign's.
    let campaigns = try await campaigns.current().campaigns.filter { $0.isAbout(subject) }
    for campaign in campaigns {
      let name = ExtensionRequest.effect(
        campaign: campaign.id, originalTransactionId: subject.originalTransactionId)
      guard let standing = await context.effect(name) else { continue }
      if OwnExtension.explains(subject, until: transaction.expiresDate, campaign, standing) { return .ignore }
    }
    let fitting = campaigns.filter { $0.isOpen(at: subject.signedDate) }
    guard let only = fitting.first, fitting.count == 1 else {
      return fitting.reduce(.ignore) { $0.counting(CampaignProgress.ambiguous($1.id)) }
    }
    let isShared = transaction.inAppOwnershipType == .familyShared
    return .ignore.counting(isShared ? CampaignProgress.shared(only.id) : CampaignProgress.extended(only.id))
  }

  private func summed(_ notification: Notification, _ context: HandlerContext) async throws -> Outcome {
    guard let summary = notification.summary, let id = summary.requestIdentifier?.lowercased(),
      let campaign = try await campaigns.current()[id]
    else {
      context.logger.notice("a mass extension that no campaign is known of is complete")
      return .ignore
    }
    guard let completion = try await completion(of: campaign, summary, notification, context) else {
      return .retry(after: .seconds(60), because: "not-complete-yet")
    }
    let completed = CampaignCompleted(
      about: EventFacts(campaign),
      details: .init(
        completedAt: completion.at.rfc3339, succeeded: completion.succeeded, failed: completion.failed))
    let record = CampaignRecord.completion(campaign: id, completion)
    return try Outcome.emit(completed)
      .writing(OutputRecord(topic: CampaignRecord.topic, key: record.key, value: record.json.serialized()))
      .settingTimer(Self.timerPrefix + id, at: completion.at + Self.reconciliationDelay)
  }

  /// Apple's own date of completion ends the window; the summary's is later. Nil where Apple says that it is not done.
  private func completion(
    of campaign: Campaign, _ summary: NotificationSummary, _ notification: Notification, _ context: HandlerContext
  ) async throws -> Campaign.Completion? {
    let told = Campaign.Completion(
      at: notification.signedDate ?? context.clock.wallTime, succeeded: summary.succeededCount ?? 0,
      failed: summary.failedCount ?? 0)
    do {
      let status = try await context.appStore(for: campaign.bundleId).getStatusOfSubscriptionRenewalDateExtensions(
        productId: campaign.productId, requestIdentifier: campaign.id, in: campaign.environment)
      guard status.value.complete == true else { return nil }
      return Campaign.Completion(
        at: status.value.completeDate ?? told.at, succeeded: status.value.succeededCount ?? told.succeeded,
        failed: status.value.failedCount ?? told.failed)
    } catch let failure as PermanentFailure where failure.reason == "api-not-configured" {
      return told
    } catch let error as APIError where error.errorClass == .never {
      // Apple has forgotten it; the summary is what is left.
      return told
    }
  }
}

extension ExtensionSubject {
  /// What a notification names; nil where it names no subscription.
  init?(_ notification: Notification) {
    guard let transaction = notification.transaction, let original = transaction.originalTransactionId,
      let bundleId = notification.bundleId ?? transaction.bundleId,
      let environment = notification.environment ?? transaction.environment, let productId = transaction.productId,
      let signedDate = notification.signedDate
    else { return nil }
    self.init(
      originalTransactionId: original, bundleId: bundleId, environment: environment, productId: productId,
      storefront: transaction.storefront, signedDate: signedDate)
  }
}
