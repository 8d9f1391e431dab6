/// The type of a token for custom links (App Store Server Notifications 2.17, `tokenType`).
public struct ExternalPurchaseTokenType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A token for services.
  public static let services = ExternalPurchaseTokenType(rawValue: "SERVICES")
  /// A token for acquisition.
  public static let acquisition = ExternalPurchaseTokenType(rawValue: "ACQUISITION")

  /// The values that Apple documents.
  public static let allKnown: [ExternalPurchaseTokenType] = [
    .services, .acquisition,
  ]
}
