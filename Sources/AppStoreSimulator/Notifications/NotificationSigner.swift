// Signs data when it is sent or requested. Signed data is not stored.

package import AppStore
package import AppStoreSigning

/// Signs the world's data as Apple does.
package struct NotificationSigner: Sendable {
  /// The chains that sign.
  package let leaves: RotatingLeaves

  /// Creates a signer with these chains.
  package init(_ leaves: RotatingLeaves) { self.leaves = leaves }

  /// `signedTransactionInfo`, signed now.
  package func signedTransaction(_ subject: PurchaseSubject, at now: Timestamp) throws(SigningError) -> String {
    try text(subject.transactionPayload(signedDate: now), at: now)
  }

  /// `signedRenewalInfo`, signed now; nil for a one-time purchase.
  package func signedRenewalInfo(_ subject: PurchaseSubject, at now: Timestamp) throws(SigningError) -> String? {
    guard let payload = subject.renewalPayload(signedDate: now) else { return nil }
    return try text(payload, at: now)
  }

  /// `signedAppTransactionInfo`, signed now.
  func signedAppTransaction(_ subject: CustomerSubject, at now: Timestamp) throws(SigningError) -> String {
    try text(subject.appTransactionPayload(signedDate: now), at: now)
  }

  /// `signedPayload` of a notification, as it was or will be sent.
  package func signedPayload(_ subject: NotificationSubject) throws(SigningError) -> String {
    String(decoding: try sign(subject).jws, as: UTF8.self)
  }

  /// Signs a notification. Given the signatures of an earlier call, it returns the same token.
  func sign(_ subject: NotificationSubject) throws(SigningError) -> (jws: [UInt8], signatures: TokenSignatures) {
    let chain = try leaves.chain(at: subject.facts.signedDate)
    let known = subject.signatures
    var signatures = TokenSignatures(outer: [])
    func inner(
      _ payload: JSONObject, reusing signature: [UInt8]?
    ) throws(SigningError) -> (jws: [UInt8], signature: [UInt8]) {
      try chain.sign(payload.bytes, reusing: signature)
    }
    let app = subject.payloadApp
    let part: NotificationPart
    switch subject.content {
    case .purchase(let purchase, let reason):
      let date = subject.facts.innerSignedDate
      let transaction = try inner(purchase.transactionPayload(signedDate: date), reusing: known?.transaction)
      signatures.transaction = transaction.signature
      var renewalInfo: [UInt8]?
      if let payload = purchase.renewalPayload(signedDate: date, in: subject.facts.kind.type) {
        let signed = try inner(payload, reusing: known?.renewalInfo)
        signatures.renewalInfo = signed.signature
        renewalInfo = signed.jws
      }
      part = .data(
        app, transaction: transaction.jws, renewalInfo: renewalInfo, status: purchase.subscription?.status,
        reason: reason)
    case .consent(let customer):
      let signed = try inner(
        customer.appTransactionPayload(signedDate: subject.facts.innerSignedDate), reusing: known?.transaction)
      signatures.transaction = signed.signature
      part = .appData(app, appTransaction: signed.jws)
    case .summary(let summary):
      part = .summary(
        app, productId: summary.productId, requestIdentifier: summary.requestIdentifier,
        storefronts: summary.storefronts, succeeded: summary.succeeded, failed: summary.failed)
    case .token(let token):
      part = .token(app, token, in: subject.environment, isReport: subject.facts.kind.subtype == .unreported)
    case .test:
      part = .test(app)
    }
    let payload = notificationPayload(
      kind: subject.facts.kind, notificationUUID: subject.facts.uuid.text, part: part,
      signedDate: subject.facts.signedDate)
    let outer = try chain.sign(payload.bytes, reusing: known?.outer)
    signatures.outer = outer.signature
    return (outer.jws, signatures)
  }

  private func text(_ payload: JSONObject, at now: Timestamp) throws(SigningError) -> String {
    String(decoding: try leaves.chain(at: now).sign(payload.bytes), as: UTF8.self)
  }
}

extension NotificationFacts {
  /// Apple signs the inner tokens first, mostly some milliseconds before the notification and sometimes in the same
  /// millisecond.
  var innerSignedDate: Timestamp { signedDate - .milliseconds(Int64(uuid.low & 15)) }
}

extension CustomerSubject {
  func appTransactionPayload(signedDate: Timestamp) -> JSONObject {
    AppStoreSigning.appTransactionPayload(
      payloadApp, appTransactionId: String(appTransactionId), originalPurchaseDate: installed, signedDate: signedDate)
  }
}

extension NotificationPart {
  /// A notification about a missing report names neither the type nor the end of its token.
  fileprivate static func token(
    _ app: PayloadApp, _ token: ExternalPurchaseTokenFacts, in environment: AppStoreEnvironment, isReport: Bool
  ) -> NotificationPart {
    .token(
      app, identifier: (environment == .sandbox ? "SANDBOX_" : "") + token.id.text, created: token.created,
      expires: isReport ? nil : token.expires, type: isReport ? nil : token.type)
  }
}
