// Tokens that the chain signed, but for another app or environment, or with inner tokens that disagree or are forged.
import AppStore

extension Forgeries {
  func ofIdentity() throws(SigningError) -> [Forgery] {
    let otherEnvironment: AppStoreEnvironment = app.isProduction ? .sandbox : .production
    func about(_ change: (inout SampleApp) -> Void) throws(SigningError) -> [UInt8] {
      var other = app
      change(&other)
      return try chain.sign(payload(app: other))
    }
    var forgeries = [
      Forgery("other-bundle", try about { $0.bundleId += ".other" }, .refused("app-identifier")),
      Forgery("other-environment", try about { $0.environment = otherEnvironment }, .refused("environment")),
      Forgery(
        "unknown-environment", try about { $0.environment = AppStoreEnvironment(rawValue: "Moon") },
        .refused("environment")),
      Forgery("xcode-environment", try about { $0.environment = .xcode }, .refused("environment")),
    ]
    if app.isProduction {
      forgeries.append(Forgery("other-app-apple-id", try about { $0.appAppleId += 1 }, .refused("app-identifier")))
    }
    let bare = JSONObject(ordered: [
      "notificationType": .string("DID_RENEW"), "notificationUUID": .string("b1a7c0de-0000-4000-8000-000000000009"),
      "version": .string("2.0"), "signedDate": .date(signedDate),
    ])
    forgeries.append(Forgery("no-part-at-all", try chain.sign(bare.bytes), .refused("app-identifier")))
    return forgeries
  }

  func ofInnerTokens() throws(SigningError) -> [Forgery] {
    let purchase = purchase()
    let transaction = try chain.sign(purchase.transaction.bytes)
    let renewalInfo = try chain.sign(purchase.renewalInfo.bytes)
    var other = app
    other.bundleId += ".other"
    let elsewhere = self.purchase(app: other)
    var moved = purchase.renewalInfo
    moved["originalTransactionId"] = .string("2000000000000001")
    var abroad = purchase.transaction
    abroad["environment"] = .string(app.isProduction ? "Sandbox" : "Production")
    let stranger = try SigningChain.generate(at: signedDate, shape: chain.shape)
    var tampered = Self.segments(transaction)
    tampered[1] = Text.base64URL(moved.bytes)
    func around(
      _ label: String, _ transaction: [UInt8], _ renewalInfo: [UInt8], _ expectation: Forgery.Expectation,
      isOnlyChainFault: Bool = false
    ) throws(SigningError) -> Forgery {
      Forgery(
        label, try chain.sign(payload(transaction: transaction, renewalInfo: renewalInfo)), expectation,
        isOnlyChainFault: isOnlyChainFault)
    }
    return [
      try around("inner-of-another-app", chain.sign(elsewhere.transaction.bytes), renewalInfo, .innerMismatch),
      try around("inner-of-another-environment", chain.sign(abroad.bytes), renewalInfo, .innerMismatch),
      try around("inner-of-another-subscription", transaction, chain.sign(moved.bytes), .innerMismatch),
      try around(
        "inner-by-stranger", stranger.sign(purchase.transaction.bytes), renewalInfo, .innerForged,
        isOnlyChainFault: true),
      try around(
        "inner-renewal-by-stranger", transaction, stranger.sign(purchase.renewalInfo.bytes), .innerForged,
        isOnlyChainFault: true),
      try around("inner-tampered", Self.join(tampered), renewalInfo, .innerForged),
      try around("inner-not-a-token", Array("signed_transaction_info".utf8), renewalInfo, .innerForged),
    ]
  }
}
