// The purchase of the app itself, as the App Store signs it.

/// The payload of a signed app transaction (StoreKit, `JWSAppTransactionDecodedPayload`). The moment it is judged at is
/// ``receiptCreationDate``.
public struct AppTransaction: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// The environment, by another name.
  public var receiptType: AppStoreEnvironment? {
    get { self["receiptType"] }
    set { self["receiptType"] = newValue }
  }

  /// The app in the App Store; absent in the sandbox.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The version of the app that this is for.
  public var applicationVersion: String? {
    get { self["applicationVersion"] }
    set { self["applicationVersion"] = newValue }
  }

  /// The version of the app, as Apple numbers it.
  public var versionExternalIdentifier: Int64? {
    get { self["versionExternalIdentifier"] }
    set { self["versionExternalIdentifier"] = newValue }
  }

  /// When Apple signed the app transaction.
  public var receiptCreationDate: Timestamp? {
    get { self["receiptCreationDate"] }
    set { self["receiptCreationDate"] = newValue }
  }

  /// When the customer bought the app.
  public var originalPurchaseDate: Timestamp? {
    get { self["originalPurchaseDate"] }
    set { self["originalPurchaseDate"] = newValue }
  }

  /// The version of the app that the customer bought.
  public var originalApplicationVersion: String? {
    get { self["originalApplicationVersion"] }
    set { self["originalApplicationVersion"] = newValue }
  }

  /// Ties the app transaction to a device, Base64.
  public var deviceVerification: String? {
    get { self["deviceVerification"] }
    set { self["deviceVerification"] = newValue }
  }

  /// The UUID that ``deviceVerification`` was computed with.
  public var deviceVerificationNonce: String? {
    get { self["deviceVerificationNonce"] }
    set { self["deviceVerificationNonce"] = newValue }
  }

  /// When the customer ordered the app before its release.
  public var preorderDate: Timestamp? {
    get { self["preorderDate"] }
    set { self["preorderDate"] = newValue }
  }

  /// Names the app transaction; one for each customer and app.
  public var appTransactionId: String? {
    get { self["appTransactionId"] }
    set { self["appTransactionId"] = newValue }
  }

  /// Where the customer bought the app.
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
