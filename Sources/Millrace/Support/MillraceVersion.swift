// The version that every program of this package prints: one place, so that no two of them ever disagree.

/// The version of Millrace.
public enum MillraceVersion {
  /// This version, by Semantic Versioning (https://semver.org), without a leading `v`.
  public static let current = "0.1.0"
}
