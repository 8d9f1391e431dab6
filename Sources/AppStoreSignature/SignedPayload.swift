// The properties of a signed payload that verification needs: its date, its app and its kind.
import AppStore

/// A payload that Apple signs.
protocol SignedPayload: AppStoreObject {
  /// The signing date, at which the chain must be valid. Early payloads have none.
  var effectiveDate: Timestamp? { get }
  /// The app and environment that the payload names.
  var claims: IdentityClaims { get }
  /// The reason it cannot be a payload of this kind, even if Apple signed it; nil if it can be.
  var kindFault: VerificationError? { get }
}

extension SignedPayload {
  var kindFault: VerificationError? { nil }
}

extension ResponseBodyV2DecodedPayload: SignedPayload {
  var effectiveDate: Timestamp? { signedDate }
  var claims: IdentityClaims { IdentityClaims(self) }

  /// Every device holds transactions that Apple signed. Without this check, a transaction would pass as a notification
  /// for an app that is not configured.
  var kindFault: VerificationError? {
    notificationType == nil ? VerificationError(.format, "no notificationType: the payload is not a notification") : nil
  }
}

extension JWSTransactionDecodedPayload: SignedPayload {
  var effectiveDate: Timestamp? { signedDate }
  var claims: IdentityClaims { IdentityClaims(self) }
}

extension JWSRenewalInfoDecodedPayload: SignedPayload {
  var effectiveDate: Timestamp? { signedDate }
  var claims: IdentityClaims { IdentityClaims(self) }
}

extension AppTransaction: SignedPayload {
  var effectiveDate: Timestamp? { receiptCreationDate }
  var claims: IdentityClaims { IdentityClaims(self) }
}
