/// The platform of the original purchase of an app (StoreKit, `originalPlatform`).
public struct PurchasePlatform: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// iOS and iPadOS.
  public static let iOS = PurchasePlatform(rawValue: "iOS")
  /// macOS.
  public static let macOS = PurchasePlatform(rawValue: "macOS")
  /// tvOS.
  public static let tvOS = PurchasePlatform(rawValue: "tvOS")
  /// visionOS.
  public static let visionOS = PurchasePlatform(rawValue: "visionOS")

  /// The values that Apple documents.
  public static let allKnown: [PurchasePlatform] = [
    .iOS, .macOS, .tvOS, .visionOS,
  ]
}
