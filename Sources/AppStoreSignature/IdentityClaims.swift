// For whom a payload says it is.
import AppStore

/// What a payload says about whom it is for. Each kind of payload says some of it: renewal info names no bundle.
struct IdentityClaims: Sendable, Hashable {
  /// Whether this kind of payload names a bundle at all.
  var namesBundle: Bool
  /// Whether this kind of payload names an app id at all.
  var namesApp: Bool
  var bundleId: String?
  var appAppleId: Int64?
  var environment: AppStoreEnvironment?

  init(_ payload: ResponseBodyV2DecodedPayload) {
    (namesBundle, namesApp) = (true, true)
    bundleId = payload.bundleId
    appAppleId = payload.appAppleId
    environment = payload.environment
  }

  init(_ payload: JWSTransactionDecodedPayload) {
    (namesBundle, namesApp) = (true, false)
    bundleId = payload.bundleId
    environment = payload.environment
  }

  init(_ payload: JWSRenewalInfoDecodedPayload) {
    (namesBundle, namesApp) = (false, false)
    environment = payload.environment
  }

  init(_ payload: AppTransaction) {
    (namesBundle, namesApp) = (true, true)
    bundleId = payload.bundleId
    appAppleId = payload.appAppleId
    environment = payload.receiptType
  }
}
