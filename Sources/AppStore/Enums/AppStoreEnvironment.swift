/// The environment of a payload (App Store Server API, `environment`). ``xcode`` and ``localTesting`` appear only in
/// data that a developer's machine signed; Apple does not vouch for it.
public struct AppStoreEnvironment: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The sandbox.
  public static let sandbox = AppStoreEnvironment(rawValue: "Sandbox")
  /// Production.
  public static let production = AppStoreEnvironment(rawValue: "Production")
  /// StoreKit testing in Xcode, signed by Xcode itself.
  public static let xcode = AppStoreEnvironment(rawValue: "Xcode")
  /// Local testing of the API, unsigned.
  public static let localTesting = AppStoreEnvironment(rawValue: "LocalTesting")

  /// The values that Apple documents.
  public static let allKnown: [AppStoreEnvironment] = [
    .sandbox, .production, .xcode, .localTesting,
  ]
}
