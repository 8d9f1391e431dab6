// The part of a notification that carries transactions.

/// The app and its signed transaction and renewal information (App Store Server Notifications, `data`). Each of the two
/// signed strings is a JWS of its own, to be verified like the notification that carries it.
public struct NotificationData: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Where the purchase was made.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The app in the App Store; absent in sandbox `TEST` notifications and in the sandbox of 2022.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle; it need not contain a dot.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The build of the app, any text.
  public var bundleVersion: String? {
    get { self["bundleVersion"] }
    set { self["bundleVersion"] = newValue }
  }

  /// A JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactionInfo: String? {
    get { self["signedTransactionInfo"] }
    set { self["signedTransactionInfo"] = newValue }
  }

  /// A JWS whose payload is a ``JWSRenewalInfoDecodedPayload``; only for auto-renewable subscriptions.
  public var signedRenewalInfo: String? {
    get { self["signedRenewalInfo"] }
    set { self["signedRenewalInfo"] = newValue }
  }

  /// The subscription at `signedDate`; only for auto-renewable subscriptions.
  public var status: Status? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// Why the customer asked for a refund; only for `CONSUMPTION_REQUEST`.
  public var consumptionRequestReason: ConsumptionRequestReason? {
    get { self["consumptionRequestReason"] }
    set { self["consumptionRequestReason"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("environment", \.environment),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("bundleVersion", \.bundleVersion),
    DocumentedField("signedTransactionInfo", \.signedTransactionInfo),
    DocumentedField("signedRenewalInfo", \.signedRenewalInfo),
    DocumentedField("status", \.status),
    DocumentedField("consumptionRequestReason", \.consumptionRequestReason),
  ]
}
