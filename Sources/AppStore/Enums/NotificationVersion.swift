// The two protocols of App Store Server Notifications.

/// The version of notifications that a URL is registered for.
public enum NotificationVersion: String, Sendable, Hashable, CaseIterable {
  /// JSON with a shared secret; deprecated.
  case v1
  /// Signed by Apple.
  case v2
}
