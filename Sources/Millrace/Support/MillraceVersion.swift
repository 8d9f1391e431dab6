/// The version of Millrace, which every program of this package prints.
public enum MillraceVersion {
  /// The current version, by Semantic Versioning (https://semver.org), without a leading `v`.
  public static let current = "0.1.0"
}
