// The kinds of Apple's signed data, as `millrace verify --kind` names them.

internal import AppStore

/// The kind of a token.
package enum SignedDataKind: String, Sendable, Hashable, CaseIterable {
  /// A version 2 notification (`signedPayload`).
  case notification
  /// A signed transaction (`signedTransactionInfo`).
  case transaction
  /// Signed renewal info (`signedRenewalInfo`).
  case renewalInfo
  /// A signed app transaction (`signedAppTransactionInfo`).
  case appTransaction

  /// Recognizes the kind of a payload by the fields that only this kind has; nil for a payload of another kind.
  init?(of payload: JSONObject) {
    let names = Set(payload.members.map(\.key))
    if names.contains("notificationType") {
      self = .notification
    } else if names.contains("transactionId") {
      self = .transaction
    } else if !names.isDisjoint(with: ["autoRenewStatus", "autoRenewProductId", "renewalDate"]) {
      self = .renewalInfo
    } else if !names.isDisjoint(with: ["receiptType", "applicationVersion", "originalApplicationVersion"]) {
      self = .appTransaction
    } else {
      return nil
    }
  }

  /// The name in a sentence.
  var name: String {
    switch self {
    case .notification: "a notification"
    case .transaction: "a transaction"
    case .renewalInfo: "renewal info"
    case .appTransaction: "an app transaction"
    }
  }

  /// The member of Apple's JSON bodies that contains the token.
  package var member: String {
    switch self {
    case .notification: "signedPayload"
    case .transaction: "signedTransactionInfo"
    case .renewalInfo: "signedRenewalInfo"
    case .appTransaction: "signedAppTransactionInfo"
    }
  }
}
