/// The version of Millrace, which every program of this package prints.
package enum MillraceVersion {
  /// The current version, by Semantic Versioning (https://semver.org), without a leading `v`.
  package static let current = "0.1.0"
}
