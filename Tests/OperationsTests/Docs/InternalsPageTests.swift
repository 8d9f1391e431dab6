// `docs/internals.md` and `docs/adding.md` lead a newcomer through the sources, so every file that they name has to
// exist.

import Foundation
import TestEnvironment
import Testing

@Suite struct InternalsPageTests {
  @Test(arguments: ["docs/internals.md", "docs/adding.md"])
  func `every file that a page names exists`(name: String) throws {
    let paths = Self.paths(in: try Project.text(name))
    #expect(paths.count >= 40, "\(name) names only \(paths.count) files")
    let missing = paths.filter { path in
      !FileManager.default.fileExists(atPath: Project.path(path))
    }
    #expect(missing == [], "\(name) names files that do not exist")
  }

  @Test func `a path is read whole, once, and without the arguments of a script`() {
    let page = """
      `Sources/A/B+C.swift`, `docs/a.md`, again `docs/a.md`, and `scripts/check chart --update` (`Tests/A.swift`).
      Not `LaneRunner`, not `Elsewhere/a.swift`, and not Sources/D.swift without quotes.
      """
    #expect(Self.paths(in: page) == ["Sources/A/B+C.swift", "Tests/A.swift", "docs/a.md", "scripts/check"])
  }

  /// The folders whose files the pages name.
  private static let folders = [
    "Sources/", "Tests/", "ProcessTests/", "Simulation/", "docs/", "scripts/", "scenarios/", "topics/", "helm/",
    "deploy/",
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
