// The part of a notification with transactions.

/// The app and its signed transaction and renewal info (App Store Server Notifications, `data`). Each of the two signed
/// strings is a separate JWS that has to be verified like the notification itself.
public struct NotificationData: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The environment of the purchase.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The app's Apple ID; absent in sandbox `TEST` notifications and in the sandbox of 2022.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle identifier, which need not contain a dot.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The build of the app, arbitrary text.
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

  /// The status of the subscription at `signedDate`; only for auto-renewable subscriptions.
  public var status: Status? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// The customer's reason for the refund request; only for `CONSUMPTION_REQUEST`.
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
