// Where Apple is, or whoever stands in for it.

internal import AppStore

/// The base URL of each environment.
public struct APIBaseURLs: Sendable, Hashable {
  /// Production.
  public let production: String
  /// Sandbox.
  public let sandbox: String

  /// Apple's hosts of 2026; its documentation still shows those under `itunes.apple.com`.
  public static let apple = APIBaseURLs(
    production: "https://api.storekit.apple.com", sandbox: "https://api.storekit-sandbox.apple.com")

  /// Base URLs with or without a slash at the end.
  public init(production: String, sandbox: String) {
    self.production = Self.withoutSlash(production)
    self.sandbox = Self.withoutSlash(sandbox)
  }

  /// The base of one environment, without a slash at the end.
  func url(of environment: AppStoreEnvironment) -> String {
    environment == .production ? production : sandbox
  }

  /// The host of one environment, with its port when it has one; for traces.
  func host(of environment: AppStoreEnvironment) -> String {
    let url = url(of: environment)
    let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
    return String(url[start...].prefix { $0 != "/" })
  }

  private static func withoutSlash(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }
}
