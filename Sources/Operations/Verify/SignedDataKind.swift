// The kinds of Apple's signed data, as `millrace verify --kind` names them.

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
