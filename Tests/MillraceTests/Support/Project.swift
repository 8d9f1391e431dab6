// Locates the project's own files, because tests also check committed topics and pages.

enum Project {
  /// The root directory of the package, without a trailing slash.
  static let root: String = {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    while let last = parts.popLast() {
      if last == "Tests" { break }
    }
    return parts.joined(separator: "/")
  }()
}
