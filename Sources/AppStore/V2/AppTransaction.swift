// The signed purchase of the app itself.

/// The payload of a signed app transaction (StoreKit, `JWSAppTransactionDecodedPayload`). Its signing date is
/// ``receiptCreationDate``.
public struct AppTransaction: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The environment, which has another name here.
  public var receiptType: AppStoreEnvironment? {
    get { self["receiptType"] }
    set { self["receiptType"] = newValue }
  }

  /// The app's Apple ID; absent in the sandbox.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The version of the app that the app transaction applies to.
  public var applicationVersion: String? {
    get { self["applicationVersion"] }
    set { self["applicationVersion"] = newValue }
  }

  /// Apple's number for the version of the app.
  public var versionExternalIdentifier: Int64? {
    get { self["versionExternalIdentifier"] }
    set { self["versionExternalIdentifier"] = newValue }
  }

  /// The time at which Apple signed the app transaction.
  public var receiptCreationDate: Timestamp? {
    get { self["receiptCreationDate"] }
    set { self["receiptCreationDate"] = newValue }
  }

  /// The time at which the customer bought the app.
  public var originalPurchaseDate: Timestamp? {
    get { self["originalPurchaseDate"] }
    set { self["originalPurchaseDate"] = newValue }
  }

  /// The version of the app that the customer originally purchased.
  public var originalApplicationVersion: String? {
    get { self["originalApplicationVersion"] }
    set { self["originalApplicationVersion"] = newValue }
  }

  /// Binds the app transaction to a device, Base64.
  public var deviceVerification: String? {
    get { self["deviceVerification"] }
    set { self["deviceVerification"] = newValue }
  }

  /// The UUID that ``deviceVerification`` was computed with.
  public var deviceVerificationNonce: String? {
    get { self["deviceVerificationNonce"] }
    set { self["deviceVerificationNonce"] = newValue }
  }

  /// The time at which the customer preordered the app.
  public var preorderDate: Timestamp? {
    get { self["preorderDate"] }
    set { self["preorderDate"] = newValue }
  }

  /// Identifies the app transaction; unique for each customer and app.
  public var appTransactionId: String? {
    get { self["appTransactionId"] }
    set { self["appTransactionId"] = newValue }
  }

  /// The platform on which the customer purchased the app.
  public var originalPlatform: PurchasePlatform? {
    get { self["originalPlatform"] }
    set { self["originalPlatform"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("receiptType", \.receiptType),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("applicationVersion", \.applicationVersion),
    DocumentedField("versionExternalIdentifier", \.versionExternalIdentifier),
    DocumentedField("receiptCreationDate", \.receiptCreationDate),
    DocumentedField("originalPurchaseDate", \.originalPurchaseDate),
    DocumentedField("originalApplicationVersion", \.originalApplicationVersion),
    DocumentedField("deviceVerification", \.deviceVerification),
    DocumentedField("deviceVerificationNonce", \.deviceVerificationNonce),
    DocumentedField("preorderDate", \.preorderDate),
    DocumentedField("appTransactionId", \.appTransactionId),
    DocumentedField("originalPlatform", \.originalPlatform),
  ]
}
