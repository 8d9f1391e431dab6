// Verifies a whole notification: the outer token, then the inner tokens, then whether they agree.
import AppStore

extension TokenVerifier {
  /// Verifies the outer token, and the inner tokens as ``innerTokens`` says.
  ///
  /// - Throws: the fault of the outer token, or a temporary fault of an inner token. Other faults of inner tokens are
  ///   part of the verdict.
  func verifyNotification(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> VerifiedNotification {
    let outer = try await verify(ResponseBodyV2DecodedPayload.self, jws, identity: identity)
    let payload = outer.payload
    let isVouching = innerTokens == .vouched && payload.vouchesForInnerTokens
    var forgery: InnerForgery?
    let data = payload.json["data"]
    let transaction = try await inner(
      JWSTransactionDecodedPayload.self, .transaction, data.member("signedTransactionInfo"), isVouching, &forgery)
    let renewalInfo = try await inner(
      JWSRenewalInfoDecodedPayload.self, .renewalInfo, data.member("signedRenewalInfo"), isVouching, &forgery)
    let appTransaction = try await inner(
      AppTransaction.self, .appTransaction, payload.json["appData"].member("signedAppTransactionInfo"), isVouching,
      &forgery)

    var comparison = InnerComparison(against: payload)
    if let transaction { comparison.compare(transaction.payload) }
    if let renewalInfo { comparison.compare(renewalInfo.payload, beside: transaction?.payload) }
    if let appTransaction { comparison.compare(appTransaction.payload) }
    let hasInner = transaction != nil || renewalInfo != nil || appTransaction != nil
    let verdict: InnerVerdict =
      if let forgery {
        .forged(forgery)
      } else if !comparison.mismatches.isEmpty {
        .mismatch(comparison.mismatches)
      } else {
        isVouching && hasInner ? .vouched : .verified
      }
    return VerifiedNotification(
      payload: payload, inner: verdict, transaction: transaction, renewalInfo: renewalInfo,
      appTransaction: appTransaction, chain: outer.chain)
  }

  /// Returns an inner token. Returns nil if there is none or if it is not genuine; `forgery` then has the reason.
  private func inner<Payload: SignedPayload>(
    _ type: Payload.Type, _ token: InnerToken, _ value: JSON?, _ isVouched: Bool, _ forgery: inout InnerForgery?
  ) async throws(VerificationError) -> VouchedToken<Payload>? {
    let error: VerificationError
    switch value {
    case nil, .null?:
      return nil
    case .string(let jws)?:
      do {
        let payload =
          isVouched
          ? Payload(json: try UnverifiedToken.payload(of: jws))
          : try await verify(type, jws.utf8, identity: .any).payload
        return VouchedToken(payload: payload, jws: jws)
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

extension ResponseBodyV2DecodedPayload {
  /// Whether this is certainly a notification: Apple puts inner tokens into nothing else that it signs, and customers
  /// and developers cannot choose the text of these fields.
  fileprivate var vouchesForInnerTokens: Bool {
    notificationType != nil && notificationUUID?.isEmpty == false
      && ["data", "appData", "summary", "externalPurchaseToken"].contains { json[$0] != nil }
  }
}

extension JSON? {
  /// Returns the value of a member if this is an object.
  fileprivate func member(_ name: String) -> JSON? {
    guard case .object(let object)? = self else { return nil }
    return object[name]
  }
}
