// The base URLs of Apple's servers, or of a replacement for them.

internal import AppStore

/// The base URL of each environment.
public struct APIBaseURLs: Sendable, Hashable {
  /// Production.
  public let production: String
  /// Sandbox.
  public let sandbox: String

  /// Apple's hosts as of 2026. Its documentation still shows those under `itunes.apple.com`.
  public static let apple = APIBaseURLs(
    production: "https://api.storekit.apple.com", sandbox: "https://api.storekit-sandbox.apple.com")

  /// Creates base URLs. A trailing slash is removed.
  public init(production: String, sandbox: String) {
    self.production = Self.withoutSlash(production)
    self.sandbox = Self.withoutSlash(sandbox)
  }

  /// Returns the base URL of an environment, without a trailing slash.
  func url(of environment: AppStoreEnvironment) -> String {
    environment == .production ? production : sandbox
  }

  /// Returns the host of an environment, with its port if there is one; for traces.
  func host(of environment: AppStoreEnvironment) -> String {
    let url = url(of: environment)
    let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
    return String(url[start...].prefix { $0 != "/" })
  }

  private static func withoutSlash(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }
}
