// What reports a change of a subscription: a notification, or an answer of Apple's API.

internal import AppStore

/// The origin of a report.
struct Cause: Sendable, Hashable {
  /// The kind of report.
  enum Kind: Sendable, Hashable {
    case notification(NotificationTypeV2?, Subtype?)
    /// *Get All Subscription Statuses*, asked because of a timer or of a version 1 notification.
    case answer
    /// The same call, for `millrace subscriptions import`.
    case imported
  }

  var kind: Kind
  /// The `notificationUUID`; for an answer, what led to the question.
  var id: String
}

extension Cause.Kind {
  /// The name in version 2 of a version 1 notification, for the events that Apple's answer confirms.
  static func named(by type: NotificationTypeV1) -> Self {
    switch type {
    case .initialBuy: .notification(.subscribed, .initialBuy)
    case .interactiveRenewal: .notification(.subscribed, .resubscribe)
    case .didRenew, .didRecover, .renewal: .notification(.didRenew, nil)
    default: .notification(nil, nil)
    }
  }
}

/// What Apple said about a subscription at one time. The statement that was signed last has precedence.
struct Statement: Sendable, Hashable {
  /// Nil if Apple named no status. The state then follows from the transaction and the renewal info.
  var status: Status?
  /// When Apple signed the notification, or the newest token of an answer.
  var signedDate: Timestamp
  /// When the period that the statement is about was bought.
  var purchaseDate: Timestamp?
  /// When Apple signed the transaction that came with the statement.
  var transactionSignedDate: Timestamp?
  var cause: Cause

  /// Whether the statement came with this period's transaction.
  func isAbout(_ period: Period) -> Bool { purchaseDate == period.purchaseDate }

  /// Whether `other` has precedence. Of two statements with the same times, a revocation or an end counts more: Apple
  /// signs them together with the change of the renewal status that they cause.
  func isOlder(than other: Statement) -> Bool {
    func rank(_ statement: Statement) -> (Timestamp, Int64, Int, String) {
      (
        statement.signedDate, statement.purchaseDate?.millisecondsSince1970 ?? 0, statement.status?.rawValue ?? 0,
        statement.cause.id
      )
    }
    let ranks = (rank(self), rank(other))
    return ranks.0 == ranks.1 ? packed().lexicographicallyPrecedes(other.packed()) : ranks.0 < ranks.1
  }
}
