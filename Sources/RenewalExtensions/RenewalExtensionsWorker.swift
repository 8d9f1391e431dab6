// The handling of notifications about extensions. Extensions cannot be undone and customers get an e-mail, so the
// worker makes no call in case of doubt.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
internal import Logging
package import MillraceCore
package import MillraceRecords
package import MillraceWorker

/// Retries the failures of mass extensions one subscription at a time, with the days and the reason of the campaign.
package struct RenewalExtensionsWorker: NotificationWorker {
  /// The name in topics, consumer group and ledger.
  package static let name = "renewal-extensions"
  /// The families that the worker reads.
  package static let families: Set<NotificationFamily> = [.renewalExtensions]
  /// The topic of campaigns, to which the worker writes Apple's statuses and completions.
  package static let outputTopics: Set<String> = [CampaignRecord.topic]

  /// Allows more attempts than the default, because the App Store Server API has been unavailable for a day before.
  package static var policy: WorkerPolicy {
    var policy = WorkerPolicy()
    policy.maximumAttempts = 24
    return policy
  }

  /// The time after the completion at which the worker compares its counts with Apple's. Apple's last retry of a
  /// notification comes after 157 hours.
  static let reconciliationDelay = Duration.seconds(7 * 86_400)
  private static let timerPrefix = "differs/"
  private static let comparedPrefix = "compared/"

  private let campaigns: TopicTable<CampaignTable>
  private let statuses = CampaignStatuses()

  /// Creates the worker and reads the campaigns, to detect a missing topic at start.
  package init(_ setup: WorkerSetup) async throws {
    campaigns = try setup.table(CampaignRecord.topic, CampaignTable()) { $0.fold($1) }
    let table = try await campaigns.current()
    if !table.unreadable.isEmpty {
      setup.logger.error(
        "this version cannot read some campaigns; failures are delayed until it is upgraded",
        metadata: ["keys": "\(table.unreadable.sorted().prefix(10))"])
    }
  }

  /// Handles one notification.
  package func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    switch notification.event {
    case .renewalExtension(.failure): try await failed(notification, context)
    case .renewalExtension(.summary): try await summed(notification, context)
    case .renewalExtension(let subtype): try await completed(as: subtype, notification, context)
    case .renewalExtended: try await extended(notification, context)
    default: .ignore
    }
  }

  /// Handles another subtype. Apple's page on the request names SUCCESS for a completion, all others name SUMMARY.
  private func completed(
    as subtype: Subtype?, _ notification: AppStoreNotification, _ context: HandlerContext
  ) async throws -> Outcome {
    context.logger.notice(
      "RENEWAL_EXTENSION has a subtype other than SUMMARY and FAILURE",
      metadata: ["subtype": "\(subtype?.rawValue ?? "none")", "notification": "\(notification.id)"])
    return notification.summary == nil ? .ignore : try await summed(notification, context)
  }

  /// Compares the counts of a campaign with Apple's.
  package func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    guard timer.name.hasPrefix(Self.timerPrefix) else { return .ignore }
    let id = String(timer.name.dropFirst(Self.timerPrefix.count))
    guard let campaign = try await campaigns.current()[id], let completion = campaign.completion else {
      return .ignore
    }
    // A reapplied summary with a different result sets the timer again, but the comparison happens only once.
    let compared = Self.comparedPrefix + id
    guard try await context.state(compared) == nil else { return .ignore }
    let prefixes = CampaignProgress.prefixes(of: id)
    let progress = CampaignProgress(try await context.tally(of: prefixes), of: id)
    guard !progress.agrees(with: completion, isAdopted: campaign.adoptedAt != nil) else {
      return .done(.keeping(compared, [1]))
    }
    let differs = try Outcome.Results.emitting(
      CampaignDiffers(
        about: EventFacts(campaign),
        details: .init(
          apple: .init(succeeded: completion.succeeded, failed: completion.failed),
          seen: .init(
            extended: progress.extended, shared: progress.shared, ambiguous: progress.ambiguous,
            failures: progress.failures, waiting: progress.waiting)))
    )
    return .done(differs.keeping(compared, [1]))
  }
}

// RENEWAL_EXTENSION/FAILURE.
extension RenewalExtensionsWorker {
  private func failed(_ notification: AppStoreNotification, _ context: HandlerContext) async throws -> Outcome {
    guard let transaction = notification.transaction, let subject = ExtensionSubject(notification) else {
      return .deadLetter(
        "subscription-not-named", "the failure names no subscription or no app; contact Apple, then discard it")
    }
    // Read the topic to its end each time, so that new campaigns and cancellations apply at once.
    let table = try await campaigns.current()
    guard table.unreadable.isEmpty else { return .retry(after: .seconds(600), because: "campaigns-unreadable") }
    if let id = table.resolution(of: notification.id) {
      guard let named = table[id], named.state != .refused, named.isAbout(subject) else {
        return .deadLetter(
          "campaign-mismatch",
          "an operator assigned campaign \(id), which is not about this subscription; run millrace campaigns resolve "
            + "again")
      }
      return try await retry(named, subject, transaction, context)
    }
    let match = try await confirmedMatch(of: subject, in: table, context)
    var outcome = try await outcome(of: match, subject, transaction, context)
    for record in match.records {
      outcome = outcome.writing(
        OutputRecord(topic: CampaignRecord.topic, key: record.key, value: record.json.serialized()))
    }
    return outcome
  }

  private func outcome(
    of match: ConfirmedMatch, _ subject: ExtensionSubject, _ transaction: JWSTransactionDecodedPayload,
    _ context: HandlerContext
  ) async throws -> Outcome {
    // A campaign of unknown status may also match, which makes every match doubtful.
    if !match.undetermined.isEmpty {
      let reasons = match.undetermined.map { "\($0.campaign): \($0.why)" }.joined(separator: "; ")
      return .deadLetter(
        "campaign-status-unknown",
        """
        it is unknown whether Apple has the campaign, \(reasons); requeue it later, or name the campaign with \
        millrace campaigns resolve
        """)
    }
    switch CampaignMatch(match.fitting) {
    case .none:
      let absent = match.absent.isEmpty ? "" : "; Apple has none of \(match.absent.joined(separator: ", "))"
      return .deadLetter(
        "campaign-not-found",
        """
        \(CampaignMatch.absence(of: subject.productId, in: subject.environment)) at \
        \(subject.signedDate.rfc3339)\(absent); name the campaign with millrace campaigns resolve
        """)
    case .several(let campaigns):
      return .deadLetter(
        "campaign-ambiguous",
        """
        matches \(campaigns.map(\.id).joined(separator: " and ")); name the campaign with millrace campaigns resolve
        """)
    case .one(let campaign):
      return try await retry(campaign, subject, transaction, context)
    }
  }

  /// Returns the campaigns that match, after requesting Apple's status of each campaign that is not proven to have been
  /// in progress.
  private func confirmedMatch(
    of subject: ExtensionSubject, in table: CampaignTable, _ context: HandlerContext
  ) async throws -> ConfirmedMatch {
    var match = ConfirmedMatch()
    for campaign in table.campaigns where campaign.fits(subject) {
      guard !campaign.isProven(at: subject.signedDate) else {
        match.add(campaign)
        continue
      }
      let answer = try await statuses.answer(
        about: campaign, signedAt: subject.signedDate, clock: context.clock,
        try context.appStore(for: campaign.bundleId))
      match.add(campaign, answer, about: subject)
    }
    return match
  }

  private func retry(
    _ campaign: Campaign, _ subject: ExtensionSubject, _ transaction: JWSTransactionDecodedPayload,
    _ context: HandlerContext
  ) async throws -> Outcome {
    let retry = ExtensionRetry(campaign: campaign, subject: subject, before: transaction, context: context)
    do {
      if let cancellation = campaign.cancellation {
        guard let answer = try await retry.end() else { return try withheld(campaign, subject, cancellation) }
        return try answer.event(campaign, subject)
      }
      return try await retry.run().event(campaign, subject)
    } catch is UnreadableAnswer {
      return .deadLetter(
        "effect-unreadable", "the ledger holds an answer that this version cannot read; run the version that wrote it")
    }
  }

  private func withheld(
    _ campaign: Campaign, _ subject: ExtensionSubject, _ cancellation: Campaign.Cancellation
  ) throws -> Outcome {
    let withheld = try Outcome.Results.emitting(
      ExtensionWithheld(
        about: EventFacts(campaign, subject), details: .init(by: cancellation.by, why: cancellation.why))
    )
    return .done(withheld.counting(CampaignProgress.withheld(campaign.id)))
  }
}

// RENEWAL_EXTENDED and RENEWAL_EXTENSION/SUMMARY.
extension RenewalExtensionsWorker {
  /// Counts extensions by the mass extension. The worker recognizes results of its own calls by their effects, whose
  /// intent this lane wrote before the call.
  private func extended(_ notification: AppStoreNotification, _ context: HandlerContext) async throws -> Outcome {
    guard let transaction = notification.transaction, let subject = ExtensionSubject(notification) else {
      return .ignore
    }
    // A retry may run long after its campaign's window, even within another campaign's.
    let campaigns = try await campaigns.current().campaigns.filter { $0.isAbout(subject) }
    for campaign in campaigns {
      let name = ExtensionRequest.effect(
        campaign: campaign.id, originalTransactionId: subject.originalTransactionId)
      guard let status = await context.effect(name) else { continue }
      if OwnExtension.explains(subject, until: transaction.expiresDate, campaign, status) { return .ignore }
    }
    let fitting = campaigns.filter { $0.isOpen(at: subject.signedDate) }
    guard let only = fitting.first, fitting.count == 1 else {
      return .done(fitting.reduce(Outcome.Results()) { $0.counting(CampaignProgress.ambiguous($1.id)) })
    }
    let isShared = transaction.inAppOwnershipType == .familyShared
    return .done(.counting(isShared ? CampaignProgress.shared(only.id) : CampaignProgress.extended(only.id)))
  }

  private func summed(_ notification: AppStoreNotification, _ context: HandlerContext) async throws -> Outcome {
    guard let summary = notification.summary, let id = summary.requestIdentifier?.lowercased(),
      let campaign = try await campaigns.current()[id]
    else {
      context.logger.notice("Apple completed a mass extension for which there is no campaign")
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

  /// Returns Apple's completion, whose date ends the window; the summary's date is later. Returns nil if Apple reports
  /// the extension as in progress.
  private func completion(
    of campaign: Campaign, _ summary: NotificationSummary, _ notification: AppStoreNotification,
    _ context: HandlerContext
  ) async throws -> Campaign.Completion? {
    let reported = Campaign.Completion(
      at: notification.signedDate ?? context.clock.wallTime, succeeded: summary.succeededCount ?? 0,
      failed: summary.failedCount ?? 0)
    do {
      let status = try await context.appStore(for: campaign.bundleId).status(of: campaign)
      guard status.complete == true else { return nil }
      return Campaign.Completion(
        at: status.completeDate ?? reported.at, succeeded: status.succeededCount ?? reported.succeeded,
        failed: status.failedCount ?? reported.failed)
    } catch let error as HandlerError where error.reason == "api-not-configured" {
      return reported
    } catch let error as APIError where error.errorClass == .never {
      // Apple no longer knows the campaign. Use the summary.
      return reported
    }
  }
}

extension ExtensionSubject {
  /// Creates the subject of a notification; nil if it names no subscription.
  init?(_ notification: AppStoreNotification) {
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
