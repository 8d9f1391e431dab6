// The part of a notification that carries an app transaction.

/// The app and its signed app transaction (App Store Server Notifications, `appData`).
public struct AppData: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// The app in the App Store.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// Where the app was bought.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// A JWS whose payload is an ``AppTransaction``.
  public var signedAppTransactionInfo: String? {
    get { self["signedAppTransactionInfo"] }
    set { self["signedAppTransactionInfo"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("environment", \.environment),
    DocumentedField("signedAppTransactionInfo", \.signedAppTransactionInfo),
  ]
}
