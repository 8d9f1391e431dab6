// What reports a change of a subscription: a notification, or an answer of Apple's API.

internal import AppStore

/// The origin of a report.
struct Cause: Sendable, Hashable {
  /// The kind of report.
  enum Kind: Sendable, Hashable {
    case notification(NotificationTypeV2?, Subtype?)
    /// *Get All Subscription Statuses*, asked because an end was not explained.
    case correction
    /// The same call, for `millrace subscriptions import`.
    case imported
  }

  var kind: Kind
  /// The `notificationUUID`, or the id of the question to Apple.
  var id: String
}

/// What Apple said about a subscription at one time. The statement that was signed last has precedence.
struct Statement: Sendable, Hashable {
  /// Nil if Apple named no status. The state then follows from the transaction and the renewal info.
  var status: Status?
  /// When Apple signed the notification, or the newest token of an answer.
  var signedDate: Timestamp
  /// When the period that the statement is about was bought.
  var purchaseDate: Timestamp?
  var cause: Cause

  /// Whether `other` has precedence.
  func isOlder(than other: Statement) -> Bool {
    func rank(_ statement: Statement) -> (Timestamp, Int64, String, Int) {
      (
        statement.signedDate, statement.purchaseDate?.millisecondsSince1970 ?? 0, statement.cause.id,
        statement.status?.rawValue ?? 0
      )
    }
    return rank(self) < rank(other)
  }
}
