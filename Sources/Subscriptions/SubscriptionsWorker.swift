// The worker that answers "is this customer subscribed?". It keeps a table of subscriptions and one of purchases, and
// publishes their changes.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSignature
internal import KafkaClient
internal import Logging
internal import MillraceTime
package import MillraceRecords
package import MillraceWorker

/// Maintains the state of subscriptions and of purchases that a customer keeps, and publishes an event for each change.
///
/// The states follow from what Apple signed. If a period ends and no notification explains the end, a timer fires and
/// the worker asks Apple. See `docs/subscriptions.md`.
package struct SubscriptionsWorker: NotificationWorker {
  package typealias Settings = SubscriptionsSettings

  /// The name in topics, consumer group and ledger.
  package static let name = "subscriptions"
  /// The families whose notifications contain transactions or renewal infos. Types that this version does not know are in
  /// `unrecognized`.
  package static let families: Set<NotificationFamily> = [
    .subscriptions, .purchases, .refunds, .renewalExtensions, .advancedCommerce, .consent, .subscriptionImports,
    .unrecognized,
  ]
  /// The topics of the tables, and the topic of requests: one request can lead to others.
  package static let outputTopics: Set<String> = [
    subscriptionsTopic, purchasesTopic, NotificationFamily.subscriptionImports.topic,
  ]

  /// The compacted topic with the state of each subscription, keyed by `originalTransactionId`; without the
  /// deployment's prefix.
  package static let subscriptionsTopic = "appstore.subscriptions"
  /// The compacted topic with the state of each non-consumable and non-renewing purchase, keyed by `transactionId`;
  /// without the deployment's prefix.
  package static let purchasesTopic = "appstore.purchases"

  private let margin: Duration

  /// Creates a worker.
  package init(_ setup: WorkerSetup) throws {
    margin = try setup.settings(SubscriptionsSettings.self).entitlementMargin
  }

  /// Handles one notification.
  package func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    try await withReadableStates {
      switch notification.content {
      case .v2(let verified): try await apply(verified.payload, by: notification, in: context)
      case .v1: try await hinted(by: notification, in: context)
      case .request: try await requested(by: notification, in: context)
      case .found: .ignore
      }
    }
  }

  private func withReadableStates(_ body: () async throws -> Outcome) async throws -> Outcome {
    do { return try await body() } catch is PackedError {
      return .deadLetter(
        "state-unreadable",
        "the ledger holds a state that this version cannot read; run the version that wrote it")
    }
  }

  /// Asks Apple about a subscription whose end no notification has explained.
  package func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    try await withReadableStates { try await ended(timer, in: context) }
  }

  private func ended(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    let id = timer.name
    let state = try await state(of: id, in: context)
    let answer = try await ask(
      about: id, of: state.bundleId, in: state.environment,
      as: Cause(kind: .answer, id: "timer/\(id)/\(timer.at.millisecondsSince1970)"), context)
    switch answer {
    case .reports(let reports): return outcome(of: reports, about: id, state, isLast: true, in: context)
    case .unknown, .others:
      context.logger.warning("Apple does not know a subscription whose state was not explained; asking again later")
      guard let question = state.question(margin: margin) else { return .ignore }
      let now = context.clock.wallTime
      return .ignore.settingTimer(id, at: question.time(now: now, isAgain: true, margin: margin))
    case .noCredentials:
      context.logger.warning(
        "cannot ask Apple about a subscription whose state was not explained: the app has no credentials; trying again in a day"
      )
      return .ignore.settingTimer(id, at: context.clock.wallTime + .seconds(86_400))
    }
  }
}

// MARK: - What Apple signed

extension SubscriptionsWorker {
  private func apply(
    _ payload: ResponseBodyV2DecodedPayload, by notification: AppStoreNotification, in context: HandlerContext
  ) async throws -> Outcome {
    let (transaction, renewal) = (notification.transaction, notification.renewalInfo)
    guard let id = transaction?.originalTransactionId ?? renewal?.originalTransactionId else { return .ignore }
    guard id == notification.key else {
      return .deadLetter(
        "another-purchase", "the notification's key is \(notification.key), but its transaction belongs to \(id)")
    }
    if let transaction, !SubscriptionReport.isAboutSubscription(payload, transaction, renewal) {
      let cause = Cause(kind: .notification(payload.notificationType, payload.subtype), id: notification.id)
      return try await purchase(transaction, payload.notificationType, cause, by: notification, in: context)
    }
    guard let report = SubscriptionReport(payload, transaction: transaction, renewal: renewal) else { return .ignore }
    return outcome(of: [report], about: id, try await state(of: id, in: context), in: context)
  }

  /// Returns the outcome of reports about a subscription.
  /// - Parameters:
  ///   - hint: The version 1 notification that led to the question that the reports answer.
  ///   - isLast: Whether the subscription has no timer now, because it has just fired.
  private func outcome(
    of reports: [SubscriptionReport], about id: String, _ before: SubscriptionState, hint: NotificationTypeV1? = nil,
    isLast: Bool = false, in context: HandlerContext
  ) -> Outcome {
    var state = before
    var results = Outcome.Results()
    for report in reports {
      let old = state.subscription
      state.apply(report)
      var cause = report.statement.cause
      if let hint { cause.kind = .named(by: hint) }
      for event in state.subscription?.events(since: old, cause: cause) ?? [] {
        let row = state.subscription?.row(id, of: state, margin: margin) ?? JSONObject()
        results.events.append(EncodedEvent(name: SubscriptionEvent.prefix + event.rawValue, data: row.serialized()))
      }
    }
    let row = state.subscription.map { subscription in
      OutputRecord(
        topic: Self.subscriptionsTopic, key: id,
        value: subscription.row(id, of: state, margin: margin).serialized())
    }
    let outcome = Outcome.done(results.keeping(id, state.packed, row: row))
    let (old, new) = (
      before.question(margin: margin), state.question(margin: margin)
    )
    guard isLast || old != new else { return outcome }
    guard let new else { return isLast ? outcome : outcome.cancellingTimer(id) }
    return outcome.settingTimer(id, at: new.time(now: context.clock.wallTime, isAgain: isLast, margin: margin))
  }

  private func purchase(
    _ transaction: JWSTransactionDecodedPayload, _ type: NotificationTypeV2?, _ cause: Cause,
    by notification: AppStoreNotification, in context: HandlerContext
  ) async throws -> Outcome {
    guard let row = PurchaseRow(transaction, cause: cause, in: notification) else {
      return .deadLetter("no-transaction", "the signed transaction has no id, no purchase date or no signature time")
    }
    let data = row.json.serialized()
    let name = "purchase/\(row.period.transactionId)"
    let kept = try await context.state(name).map { try PurchaseState(packed: $0) }
    var results = Outcome.Results()
    var state = kept ?? PurchaseState()
    let isConsumable = transaction.type == .consumable
    guard let change = state.apply(isConsumable ? row.period.essence : row.period, type) else { return .ignore }
    if isConsumable {
      // There are many consumables, and the app uses them up. Those with a refund or its reversal are remembered.
      if kept != nil || row.period.revocationDate != nil || type == .refundReversed {
        results = results.keeping(name, state.packed)
      }
    } else {
      let record = OutputRecord(topic: Self.purchasesTopic, key: row.period.transactionId, value: data)
      results = results.keeping(name, state.packed, row: change.isCurrent ? record : nil)
    }
    // A customer from before Millrace did not buy now.
    if let event = change.event, cause.kind != .imported {
      results.events.append(EncodedEvent(name: PurchaseEvent.prefix + event.rawValue, data: data))
    }
    return .done(results)
  }

  private func state(of id: String, in context: HandlerContext) async throws -> SubscriptionState {
    try await context.state(id).map { try SubscriptionState(packed: $0) } ?? SubscriptionState()
  }
}

// MARK: - Questions to Apple

extension SubscriptionsWorker {
  private enum Answer: Sendable {
    case reports([SubscriptionReport])
    /// Apple knows the customer, but not this subscription. Contains those that Apple knows.
    case others(Set<String>)
    /// Apple knows no such purchase.
    case unknown
    /// The app has no credentials for the App Store Server API.
    case noCredentials
  }

  /// How long after a version 1 notification Apple's API may not know its purchase yet.
  private static let patience = Duration.seconds(3_600)

  /// Asks Apple what a version 1 notification is about. It is not signed, so its content is not used.
  private func hinted(by notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let id = notification.key
    guard id != notification.id else { return .ignore }
    let environment = notification.environment.flatMap { [.production, .sandbox].contains($0) ? $0 : nil }
    let answer = try await ask(
      about: id, of: notification.bundleId, in: environment, as: Cause(kind: .answer, id: notification.id), context)
    switch answer {
    case .reports(let reports):
      let type: NotificationTypeV1? = if case .v1(let type) = notification.event { type } else { nil }
      let outcome = outcome(of: reports, about: id, try await state(of: id, in: context), hint: type, in: context)
      // Apple's first answer after a refund may not contain it yet.
      return reportsEnd(notification) ? askingAgain(about: id, after: outcome, in: context) : outcome
    case .noCredentials:
      return .deadLetter(
        "api-not-configured",
        "a version 1 notification is not signed, so the worker has to ask Apple; configure apps[].api, then requeue it")
    case .unknown, .others:
      // A subscription that is known is asked about again.
      if try await state(of: id, in: context).subscription != nil {
        return askingAgain(about: id, after: .ignore, in: context)
      }
    }
    do {
      let transaction = try await context.appStore(for: notification.bundleId)
        .getTransactionInfo(id, in: environment).value.payload
      guard transaction.originalTransactionId == id else { return .ignore }
      return try await purchase(
        transaction, nil, Cause(kind: .answer, id: notification.id), by: notification, in: context)
    } catch let error as APIError where error.isAboutTheQuestion || error.skippedItem != nil {
      let age = context.clock.wallTime - notification.receivedAt
      return age < Self.patience ? .retry(because: "transaction-not-found") : .ignore
    }
  }

  /// Whether a version 1 notification says that Apple ended a purchase.
  private func reportsEnd(_ notification: AppStoreNotification) -> Bool {
    guard case .v1(let type) = notification.event else { return false }
    return [.refund, .cancel, .revoke].contains(type)
  }

  private func askingAgain(about id: String, after outcome: Outcome, in context: HandlerContext) -> Outcome {
    outcome.settingTimer(id, at: context.clock.wallTime + margin)
  }

  /// Asks Apple about a customer from before Millrace.
  private func requested(by request: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let id = request.key
    let cause = Cause(kind: .imported, id: request.id)
    switch try await ask(about: id, of: request.bundleId, in: request.environment, as: cause, context) {
    case .reports(let reports):
      return outcome(of: reports, about: id, try await state(of: id, in: context), in: context)
    case .noCredentials:
      return .deadLetter("api-not-configured", "configure apps[].api of \(request.bundleId ?? ""), then requeue it")
    case .unknown: return .done(.counting(Self.unknownImports))
    case .others(let ids) where !ids.subtracting([id]).isEmpty:
      // A later transaction of the customer. The lane of each subscription has to ask for itself.
      guard let bundleId = request.bundleId, let environment = request.environment else { return .ignore }
      let round = try ImportRecord(request.bytes, bundleId: bundleId, environment: environment)?.round ?? ""
      return ids.subtracting([id]).sorted().reduce(.ignore) { outcome, original in
        let follower = ImportRecord(original, bundleId: bundleId, environment: environment, round: round).parts
        var record = OutputRecord(
          topic: follower.topic, key: follower.key, value: follower.value, contentType: nil)
        record.headers = follower.headers + [RecordHeader(ImportRecord.causeHeader, request.id)]
        return outcome.writing(record)
      }
    case .others:
      // A customer without subscriptions.
      do {
        let transaction = try await context.appStore(for: request.bundleId)
          .getTransactionInfo(id, in: request.environment).value.payload
        guard transaction.originalTransactionId == id else { return .done(.counting(Self.unknownImports)) }
        return try await purchase(transaction, nil, cause, by: request, in: context)
      } catch let error as APIError where error.isAboutTheQuestion || error.skippedItem != nil {
        return .done(.counting(Self.unknownImports))
      }
    }
  }

  /// The counter of imported purchases that Apple does not know.
  static let unknownImports = "imports/unknown"

  private func ask(
    about id: String, of bundleId: String?, in environment: AppStoreEnvironment?, as cause: Cause,
    _ context: HandlerContext
  ) async throws -> Answer {
    do {
      let groups = try await context.appStore(for: bundleId).getAllSubscriptionStatuses(id, in: environment).value
      // The answer contains all subscriptions of the customer. The others have lanes and answers of their own.
      let all = groups.flatMap(\.subscriptions)
      let reports = all.filter { $0.originalTransactionId == id }.compactMap { item in
        SubscriptionReport(
          status: item.status, transaction: item.transaction?.payload, renewal: item.renewalInfo?.payload,
          cause: cause)
      }
      return reports.isEmpty ? .others(Set(all.compactMap(\.originalTransactionId))) : .reports(reports)
    } catch let error as HandlerError where error.reason == "api-not-configured" {
      return .noCredentials
    } catch let error as APIError where error.isAboutTheQuestion || error.skippedItem != nil {
      return .unknown
    }
  }
}
