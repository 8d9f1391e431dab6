// The worker that tracks refunded purchases. For each transaction, the newest signed state wins.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
package import MillraceRecords
package import MillraceWorker

/// Publishes events for refunds, their reversals and the end of family sharing, and maintains a table of the present
/// state.
///
/// The worker writes the state of a transaction, its row in `appstore.entitlements` and its events in one Kafka
/// transaction. See `docs/refunds.md`.
package struct RefundsWorker: NotificationWorker {
  /// The name in topics, consumer group and ledger.
  package static let name = "refunds"
  /// Notifications, and refunds found by `millrace refunds check`.
  package static let families: Set<NotificationFamily> = [.refunds, .foundRefunds]
  /// The topic of the table.
  package static let outputTopics: Set<String> = [entitlementsTopic]

  /// The compacted topic with the present state of each transaction, keyed by `transactionId`; without the deployment's
  /// prefix.
  package static let entitlementsTopic = "appstore.entitlements"

  private let patience: HintPatience

  /// Creates a worker.
  package init(_ setup: WorkerSetup) { self.init(setup, patience: HintPatience()) }

  init(_ setup: WorkerSetup, patience: HintPatience) { self.patience = patience }

  /// Handles one notification.
  package func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    do {
      return try await outcome(of: notification, in: context)
    } catch is UnreadableState {
      return .deadLetter(
        "state-unreadable",
        "the ledger holds a state of this transaction that this version cannot read; run the version that wrote it")
    }
  }

  private func outcome(
    of notification: AppStoreNotification, in context: HandlerContext
  ) async throws -> Outcome {
    switch notification.event {
    case .refund: try await apply(.refund, by: notification, in: context)
    case .revoke: try await apply(.revoke, by: notification, in: context)
    case .refundDeclined: try await apply(.declined, by: notification, in: context)
    case .refundReversed: try await apply(.reversed, by: notification, in: context)
    case .foundRefund: try await apply(.found, by: notification, in: context)
    case .v1(let type) where Self.hints.contains(type): try await hinted(type, by: notification, in: context)
    default: .ignore
    }
  }

  private static let hints: Set<NotificationTypeV1> = [.refund, .cancel, .revoke]

  // MARK: - What Apple signed

  private func apply(
    _ kind: EntitlementFact.Kind, by notification: AppStoreNotification, in context: HandlerContext
  ) async throws -> Outcome {
    guard let transaction = notification.transaction else {
      return .deadLetter("no-transaction", "the notification has no signed transaction")
    }
    guard let id = transaction.transactionId, !id.isEmpty else {
      return .deadLetter("no-transaction", "the signed transaction has no transactionId")
    }
    let signed = notification.signedDate ?? transaction.signedDate ?? notification.receivedAt
    let revocation: Revocation? =
      switch kind {
      // The notification itself proves the revocation, even if the transaction has no revocation date.
      case .refund, .revoke: Revocation(transaction, date: transaction.revocationDate ?? signed)
      case .reversed: nil
      case .declined, .confirmed, .unfounded, .found: Revocation(transaction)
      }
    var results = Outcome.Results()
    try await record(
      EntitlementFact(id: notification.id, kind: kind, signedDate: signed, revocation: revocation),
      about: transaction, id: id, of: notification, into: &results, in: context)
    return .done(results)
  }

  private func record(
    _ fact: EntitlementFact, about transaction: JWSTransactionDecodedPayload, id: String,
    of notification: AppStoreNotification, into results: inout Outcome.Results, in context: HandlerContext
  ) async throws {
    let name = EntitlementState.name(of: id)
    var state = try EntitlementState(kept: try await context.state(name))
    let purchase = PurchaseFacts(transaction, in: notification)
    switch state.apply(fact) {
    case .none: break
    case .revoked(let revocation):
      results.events.append(fact.event(.revoked, about: purchase, revocation: revocation))
    case .reinstated: results.events.append(fact.event(.reinstated, about: purchase))
    }
    if fact.kind == .declined { results.events.append(fact.event(.declined, about: purchase)) }
    let isCurrent = state.current?.id == fact.id
    results = results.keeping(name, state.kept, row: isCurrent ? fact.row(about: purchase, id: id) : nil)
  }

  // MARK: - Unsigned hints

  private func hinted(
    _ type: NotificationTypeV1, by notification: AppStoreNotification, in context: HandlerContext
  ) async throws -> Outcome {
    var results = Outcome.Results()
    guard case .v1(let body) = notification.content else { return .ignore }
    let hints = RefundHint.all(in: body, key: notification.key)
    if hints.isEmpty {
      results.events.append(UnconfirmedRefund(reason: .noTransaction).event(type, of: notification, about: nil))
    }
    for hint in hints {
      switch try await confirm(hint, of: notification, in: context) {
      case .known: break
      case .confirmed(let transaction, let fact):
        try await record(
          fact, about: transaction, id: transaction.transactionId ?? hint.transactionId, of: notification,
          into: &results, in: context)
      case .unconfirmed(let unconfirmed):
        results.events.append(unconfirmed.event(type, of: notification, about: hint))
      case .notYet(let wait, let reason): return .retry(after: wait, because: reason.rawValue)
      }
    }
    return .done(results)
  }

  private enum Confirmation {
    /// A version 2 notification or a response has already reported the refund.
    case known
    case confirmed(JWSTransactionDecodedPayload, EntitlementFact)
    case unconfirmed(UnconfirmedRefund)
    /// Apple's response may be older than its notification. Holds the delay and the reason.
    case notYet(Duration, UnconfirmedRefund.Reason)
  }

  private func confirm(
    _ hint: RefundHint, of notification: AppStoreNotification, in context: HandlerContext
  ) async throws -> Confirmation {
    let state = try EntitlementState(kept: try await context.state(EntitlementState.name(of: hint.transactionId)))
    if let fact = state.fact(notification.id), let answer = fact.answer {
      return .confirmed(JWSTransactionDecodedPayload(json: answer), fact.judged(by: answer))
    }
    if let date = hint.cancelledAt, state.knows(revocationAt: date) || state.isReversed(since: date) { return .known }
    let transaction: JWSTransactionDecodedPayload
    do {
      let client = try context.appStore(for: notification.bundleId)
      transaction = try await client.getTransactionInfo(hint.transactionId, in: notification.namedEnvironment).value
        .payload
    } catch let error as HandlerError where error.reason == "api-not-configured" {
      return .unconfirmed(UnconfirmedRefund(reason: .noCredentials))
    } catch let error as APIError where error.isAboutTheQuestion {
      // Shortly after a purchase, *Get Transaction Info* may not know its transaction yet.
      let reason: UnconfirmedRefund.Reason = error.code == .transactionIdNotFound ? .notFound : .refused
      if reason == .notFound, let wait = wait(for: notification, in: context) { return .notYet(wait, reason) }
      return .unconfirmed(UnconfirmedRefund(reason: reason, code: error.code.map { Int64($0.rawValue) }))
    }
    // Transactions of another purchase must be handled in that purchase's order, not in this one's.
    guard transaction.originalTransactionId == notification.key else {
      return .unconfirmed(UnconfirmedRefund(reason: .anotherPurchase))
    }
    // Version 1 reports an upgrade as a cancellation, which is not a refund. Other responses without a revocation are
    // not stored, because they may be outdated.
    if transaction.revocationDate == nil, transaction.isUpgraded != true {
      return wait(for: notification, in: context).map { .notYet($0, .notRevoked) }
        ?? .unconfirmed(UnconfirmedRefund(reason: .notRevoked))
    }
    let answer = PurchaseFacts(transaction).essence
    let fact = EntitlementFact(
      id: notification.id, kind: .confirmed, signedDate: transaction.signedDate ?? notification.receivedAt,
      answer: answer)
    return .confirmed(transaction, fact.judged(by: answer))
  }

  /// Returns the delay until the next call to Apple; nil if the notification is too old.
  private func wait(for notification: AppStoreNotification, in context: HandlerContext) -> Duration? {
    patience.wait(after: context.attempt, receivedAt: notification.receivedAt, now: context.clock.wallTime)
  }
}

extension AppStoreNotification {
  /// The environment if the API serves it. Version 1 bodies may name none.
  var namedEnvironment: AppStoreEnvironment? {
    environment.flatMap { [.production, .sandbox].contains($0) ? $0 : nil }
  }
}

extension EntitlementFact {
  /// Returns the fact with its revocation derived from a response.
  fileprivate func judged(by answer: JSONObject) -> EntitlementFact {
    var fact = self
    fact.revocation = Revocation(JWSTransactionDecodedPayload(json: answer))
    fact.kind = fact.revocation == nil ? .unfounded : .confirmed
    return fact
  }
}
