/// The version of notifications that a URL is registered for.
public enum NotificationVersion: String, Sendable, Hashable, CaseIterable {
  /// JSON with a shared secret; deprecated by Apple.
  case v1
  /// Signed by Apple.
  case v2
}
