// `docs/internals.md` leads a newcomer through the sources, so every file that it names has to exist.

import Foundation
import TestEnvironment
import Testing

@Suite struct InternalsPageTests {
  @Test func `every file that the page names exists`() throws {
    let page = try Project.text("docs/internals.md")
    let paths = Self.paths(in: page)
    #expect(paths.count >= 40, "the page names only \(paths.count) files")
    let missing = paths.filter { path in
      !FileManager.default.fileExists(atPath: Project.path(path))
    }
    #expect(missing == [], "docs/internals.md names files that do not exist")
  }

  @Test func `a path is read whole, once, and without the arguments of a script`() {
    let page = """
      `Sources/A/B+C.swift`, `docs/a.md`, again `docs/a.md`, and `scripts/check chart --update` (`Tests/A.swift`).
      Not `LaneRunner`, not `Elsewhere/a.swift`, and not Sources/D.swift without quotes.
      """
    #expect(Self.paths(in: page) == ["Sources/A/B+C.swift", "Tests/A.swift", "docs/a.md", "scripts/check"])
  }

  /// The folders whose files the page names.
  private static let folders = [
    "Sources/", "Tests/", "ProcessTests/", "docs/", "scripts/", "scenarios/", "topics/", "helm/", "deploy/",
  ]

  /// Returns the paths in backquotes, sorted and without repetitions.
  private static func paths(in page: String) -> [String] {
    let words = page.split(separator: "\n").flatMap { line in
      // The text between each pair of backquotes has an odd index.
      line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { !$0.offset.isMultiple(of: 2) }
        .compactMap { $0.element.split(separator: " ").first.map(String.init) }
    }
    return Set(words.filter { word in folders.contains { word.hasPrefix($0) } }).sorted()
  }
}
