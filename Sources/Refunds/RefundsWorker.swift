// The worker that knows which purchases were paid back. Per transaction, the newest that Apple signed is what is so.

internal import AppStore
internal import AppStoreServerAPI
internal import Clocks
public import Millrace

/// Turns refunds, their reversals and the end of family sharing into events, and keeps a table of what is so.
///
/// The state of a transaction, its row in `appstore.entitlements` and the events about it are written in one transaction
/// of Kafka. See `docs/refunds.md`.
public struct RefundsWorker: NotificationWorker {
  /// The worker's identity.
  public static let name = "refunds"
  /// Notifications, and what `millrace refunds check` found.
  public static let families: Set<NotificationFamily> = [.refunds, .foundRefunds]
  /// The table.
  public static let tables: Set<String> = [entitlementsTopic]

  /// The compacted topic with the present state of each transaction, keyed by `transactionId`; without the deployment's
  /// prefix.
  public static let entitlementsTopic = "appstore.entitlements"

  private let patience: HintPatience

  /// A worker; it needs nothing.
  public init(_ setup: WorkerSetup) { self.init(setup, patience: HintPatience()) }

  init(_ setup: WorkerSetup, patience: HintPatience) { self.patience = patience }

  /// Decides about one notification.
  public func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome {
    switch notification.event {
    case .refund: try await told(.refund, by: notification, in: context)
    case .revoke: try await told(.revoke, by: notification, in: context)
    case .refundDeclined: try await told(.declined, by: notification, in: context)
    case .refundReversed: try await told(.reversed, by: notification, in: context)
    case .foundRefund: try await told(.found, by: notification, in: context)
    case .v1(let type) where Self.hints.contains(type): try await hinted(type, by: notification, in: context)
    default: .ignore
    }
  }

  private static let hints: Set<NotificationTypeV1> = [.refund, .cancel, .revoke]

  // MARK: - What Apple signed

  private func told(
    _ kind: EntitlementFact.Kind, by notification: Notification, in context: HandlerContext
  ) async throws -> Outcome {
    guard let transaction = notification.transaction else {
      throw PermanentFailure("no-transaction", "the notification carries no signed transaction")
    }
    let signed = notification.signedDate ?? transaction.signedDate ?? notification.receivedAt
    let revocation: Revocation? =
      switch kind {
      // Apple signed that it is revoked; a transaction without a date does not take that back.
      case .refund, .revoke: Revocation(transaction, date: transaction.revocationDate ?? signed)
      case .reversed: nil
      case .declined, .confirmed, .unfounded, .found: Revocation(transaction)
      }
    var outcome = Outcome(.done)
    try await take(
      EntitlementFact(id: notification.id, kind: kind, signedDate: signed, revocation: revocation),
      about: transaction, into: &outcome, in: context)
    return outcome
  }

  private func take(
    _ fact: EntitlementFact, about transaction: JWSTransactionDecodedPayload, into outcome: inout Outcome,
    in context: HandlerContext
  ) async throws {
    guard let id = transaction.transactionId, !id.isEmpty else {
      throw PermanentFailure("no-transaction", "the signed transaction has no transactionId")
    }
    let name = EntitlementState.name(of: id)
    var state = try EntitlementState(kept: try await context.state(name))
    let purchase = PurchaseFacts(transaction)
    switch state.take(fact) {
    case .none: break
    case .revoked(let revocation):
      outcome.events.append(fact.event(.revoked, about: purchase, revocation: revocation))
    case .reinstated: outcome.events.append(fact.event(.reinstated, about: purchase))
    }
    if fact.kind == .declined { outcome.events.append(fact.event(.declined, about: purchase)) }
    let isCurrent = state.current?.id == fact.id
    outcome = outcome.keeping(name, state.kept, row: isCurrent ? fact.row(about: purchase, id: id) : nil)
  }

  // MARK: - What nobody signed

  private func hinted(
    _ type: NotificationTypeV1, by notification: Notification, in context: HandlerContext
  ) async throws -> Outcome {
    var outcome = Outcome(.done)
    guard case .v1(let body) = notification.content else { return outcome }
    let hints = RefundHint.all(in: body, key: notification.key)
    if hints.isEmpty {
      outcome.events.append(UnconfirmedRefund(reason: .noTransaction).event(type, of: notification, about: nil))
    }
    for hint in hints {
      switch try await confirm(hint, of: notification, in: context) {
      case .known: break
      case .confirmed(let transaction, let fact): try await take(fact, about: transaction, into: &outcome, in: context)
      case .unconfirmed(let unconfirmed):
        outcome.events.append(unconfirmed.event(type, of: notification, about: hint))
      case .notYet(let wait): return .retry(after: wait, because: UnconfirmedRefund.Reason.notRevoked.rawValue)
      }
    }
    return outcome
  }

  private enum Confirmation {
    /// A version 2 notification, or an answer, has told the same refund.
    case known
    case confirmed(JWSTransactionDecodedPayload, EntitlementFact)
    case unconfirmed(UnconfirmedRefund)
    /// Apple's answer may be behind its notification.
    case notYet(Duration)
  }

  private func confirm(
    _ hint: RefundHint, of notification: Notification, in context: HandlerContext
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
    } catch let failure as PermanentFailure where failure.reason == "api-not-configured" {
      return .unconfirmed(UnconfirmedRefund(reason: .noCredentials))
    } catch let error as APIError where error.isAboutTheQuestion {
      let isUnknown = error.code == .transactionIdNotFound
      return .unconfirmed(
        UnconfirmedRefund(reason: isUnknown ? .notFound : .refused, code: error.code.map { Int64($0.rawValue) }))
    }
    // Another purchase's transactions are decided about in that purchase's order, not in this one's.
    guard transaction.originalTransactionId == notification.key else {
      return .unconfirmed(UnconfirmedRefund(reason: .anotherPurchase))
    }
    // An upgrade is a cancellation to version 1, and no refund. Nothing of any other such answer is kept: it may be old.
    if transaction.revocationDate == nil, transaction.isUpgraded != true {
      let wait = patience.wait(
        after: context.attempt, receivedAt: notification.receivedAt, now: context.clock.wallTime)
      return wait.map { .notYet($0) } ?? .unconfirmed(UnconfirmedRefund(reason: .notRevoked))
    }
    let answer = PurchaseFacts(transaction).essence
    let fact = EntitlementFact(
      id: notification.id, kind: .confirmed, signedDate: transaction.signedDate ?? notification.receivedAt,
      answer: answer)
    return .confirmed(transaction, fact.judged(by: answer))
  }
}

extension Notification {
  /// The environment where one is named that can be asked; bodies of version 1 may name none.
  var namedEnvironment: AppStoreEnvironment? {
    environment.flatMap { [.production, .sandbox].contains($0) ? $0 : nil }
  }
}

extension EntitlementFact {
  /// The same fact, its revocation read from the answer again.
  fileprivate func judged(by answer: JSONObject) -> EntitlementFact {
    var fact = self
    fact.revocation = Revocation(JWSTransactionDecodedPayload(json: answer))
    fact.kind = fact.revocation == nil ? .unfounded : .confirmed
    return fact
  }
}
