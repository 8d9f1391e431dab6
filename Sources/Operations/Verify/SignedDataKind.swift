// The kinds of signed data that Apple hands out, as `millrace verify --kind` names them.

/// What a token claims to be.
public enum SignedDataKind: String, Sendable, Hashable, CaseIterable {
  /// A version 2 notification (`signedPayload`).
  case notification
  /// A signed transaction (`signedTransactionInfo`).
  case transaction
  /// Signed renewal info (`signedRenewalInfo`).
  case renewalInfo
  /// A signed app transaction (`signedAppTransactionInfo`).
  case appTransaction

  /// The member of Apple's JSON bodies that carries such a token.
  public var member: String {
    switch self {
    case .notification: "signedPayload"
    case .transaction: "signedTransactionInfo"
    case .renewalInfo: "signedRenewalInfo"
    case .appTransaction: "signedAppTransactionInfo"
    }
  }
}
