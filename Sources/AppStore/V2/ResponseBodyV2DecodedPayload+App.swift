// Whose notification it is, whichever of the four parts says so.

extension ResponseBodyV2DecodedPayload {
  /// The environment that the notification is for; nil when none of the four parts says.
  ///
  /// Of the parts the first present one speaks, in the order `data`, `summary`, `externalPurchaseToken`, `appData`, as
  /// in Apple's own libraries.
  public var environment: AppStoreEnvironment? {
    if let data { return data.environment }
    if let summary { return summary.environment }
    if let externalPurchaseToken { return externalPurchaseToken.environment }
    return appData?.environment
  }

  /// The bundle that the notification is for; nil when none of the four parts says.
  public var bundleId: String? {
    if let data { return data.bundleId }
    if let summary { return summary.bundleId }
    if let externalPurchaseToken { return externalPurchaseToken.bundleId }
    return appData?.bundleId
  }

  /// The app that the notification is for; nil when none of the four parts says, as in a sandbox `TEST`.
  public var appAppleId: Int64? {
    if let data { return data.appAppleId }
    if let summary { return summary.appAppleId }
    if let externalPurchaseToken { return externalPurchaseToken.appAppleId }
    return appData?.appAppleId
  }
}

extension ExternalPurchaseToken {
  /// The environment, which the token states only through its identifier: `SANDBOX…` is the sandbox, everything else
  /// production.
  public var environment: AppStoreEnvironment {
    externalPurchaseId?.utf8.starts(with: "SANDBOX".utf8) == true ? .sandbox : .production
  }
}

extension AppTransaction {
  /// The environment, which Apple calls ``receiptType`` here.
  public var environment: AppStoreEnvironment? { receiptType }
}
