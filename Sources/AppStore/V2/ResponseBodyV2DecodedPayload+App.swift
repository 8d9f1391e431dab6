// The app of a notification, from whichever part names it.

extension ResponseBodyV2DecodedPayload {
  /// The environment of the notification; nil if none of the four parts names it.
  ///
  /// As in Apple's own libraries, it comes from the first part that is present, in the order `data`, `summary`,
  /// `externalPurchaseToken`, `appData`.
  public var environment: AppStoreEnvironment? {
    if let data { return data.environment }
    if let summary { return summary.environment }
    if let externalPurchaseToken { return externalPurchaseToken.environment }
    return appData?.environment
  }

  /// The bundle identifier of the app; nil if none of the four parts names it.
  public var bundleId: String? {
    if let data { return data.bundleId }
    if let summary { return summary.bundleId }
    if let externalPurchaseToken { return externalPurchaseToken.bundleId }
    return appData?.bundleId
  }

  /// The app's Apple ID; nil if none of the four parts names it, as in a sandbox `TEST`.
  public var appAppleId: Int64? {
    if let data { return data.appAppleId }
    if let summary { return summary.appAppleId }
    if let externalPurchaseToken { return externalPurchaseToken.appAppleId }
    return appData?.appAppleId
  }
}

extension ExternalPurchaseToken {
  /// The environment, which only the identifier shows: `SANDBOX…` is the sandbox, and anything else is production.
  public var environment: AppStoreEnvironment {
    externalPurchaseId?.utf8.starts(with: "SANDBOX".utf8) == true ? .sandbox : .production
  }
}

extension AppTransaction {
  /// The environment, which Apple calls ``receiptType`` here.
  public var environment: AppStoreEnvironment? { receiptType }
}
