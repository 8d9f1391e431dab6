/// The version of Millrace, which every program of this package prints.
package enum MillraceVersion {
  /// The current version, by Semantic Versioning (https://semver.org), without a leading `v`.
  package static let current = "0.1.0"

  /// The commit that this program was built from, in hexadecimal; nil if it was built in a checkout. `git archive`
  /// writes it here, because .gitattributes gives this file `export-subst` (gitattributes(5)).
  package static let commit: String? = {
    let archived = "$Format:%H$"
    return archived.hasPrefix("$") ? nil : archived
  }()

  /// The answer to `--version`: the version, and the commit if it is known.
  package static let text = commit.map { "\(current) (commit \($0))" } ?? current
}
