// Verifies a whole notification: the outer token, then each inner token, then whether they agree.
import AppStore

extension TokenVerifier {
  /// Verifies the outer and inner tokens.
  ///
  /// - Throws: the fault of the outer token, or a temporary fault of an inner token. Other faults of inner tokens are
  ///   part of the verdict.
  func verifyNotification(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> VerifiedNotification {
    let outer = try await verify(ResponseBodyV2DecodedPayload.self, jws, identity: identity)
    let payload = outer.payload
    var forgery: InnerForgery?
    let data = payload.json["data"]
    let transaction = try await verifyInner(
      JWSTransactionDecodedPayload.self, .transaction, data.member("signedTransactionInfo"), &forgery)
    let renewalInfo = try await verifyInner(
      JWSRenewalInfoDecodedPayload.self, .renewalInfo, data.member("signedRenewalInfo"), &forgery)
    let appTransaction = try await verifyInner(
      AppTransaction.self, .appTransaction, payload.json["appData"].member("signedAppTransactionInfo"), &forgery)

    var comparison = InnerComparison(against: payload)
    if let transaction { comparison.compare(transaction) }
    if let renewalInfo { comparison.compare(renewalInfo, beside: transaction) }
    if let appTransaction { comparison.compare(appTransaction) }
    let verdict: InnerVerdict =
      if let forgery {
        .forged(forgery)
      } else if comparison.mismatches.isEmpty {
        .verified
      } else {
        .mismatch(comparison.mismatches)
      }
    return VerifiedNotification(
      payload: payload, inner: verdict, transaction: transaction, renewalInfo: renewalInfo,
      appTransaction: appTransaction, chain: outer.chain)
  }

  /// Returns the payload of an inner token. Returns nil if there is none or if it is not genuine; `forgery` then has
  /// the reason.
  private func verifyInner<Payload: SignedPayload>(
    _ type: Payload.Type, _ token: InnerToken, _ value: JSON?, _ forgery: inout InnerForgery?
  ) async throws(VerificationError) -> Payload? {
    let error: VerificationError
    switch value {
    case nil, .null?:
      return nil
    case .string(let jws)?:
      do {
        return try await verify(type, jws.utf8, identity: .any).payload
      } catch let failure where failure.isTemporary {
        throw failure
      } catch let failure {
        error = failure
      }
    case .bool?, .integer?, .number?, .array?, .object?:
      error = VerificationError(.format, "not a string")
    }
    if forgery == nil { forgery = InnerForgery(token: token, error: error) }
    return nil
  }
}

extension JSON? {
  /// Returns the value of a member if this is an object.
  fileprivate func member(_ name: String) -> JSON? {
    guard case .object(let object)? = self else { return nil }
    return object[name]
  }
}
