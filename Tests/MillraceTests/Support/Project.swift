// The project's own files, found from where this file stands: committed topics and pages are part of what is tested.

enum Project {
  /// The package's root, without a slash at the end.
  static let root: String = {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    while let last = parts.popLast() {
      if last == "Tests" { break }
    }
    return parts.joined(separator: "/")
  }()
}
