// The app and environment that a payload names.
import AppStore

/// The app and environment that a payload names. Not every kind of payload names all of them: renewal info has no
/// bundle.
struct IdentityClaims: Sendable, Hashable {
  /// Whether this kind of payload has a bundle identifier.
  var namesBundle: Bool
  /// Whether this kind of payload has an app Apple ID.
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
