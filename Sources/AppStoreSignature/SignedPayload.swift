// What the kinds of signed payload have in common for a verifier: when they were signed, and for whom.
import AppStore

/// A payload that Apple signs.
protocol SignedPayload: AppStoreObject {
  /// When it was signed: the date the chain is judged at. Early payloads have none.
  var effectiveDate: Timestamp? { get }
  /// For whom it is.
  var claims: IdentityClaims { get }
}

extension ResponseBodyV2DecodedPayload: SignedPayload {
  var effectiveDate: Timestamp? { signedDate }
  var claims: IdentityClaims { IdentityClaims(self) }
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
