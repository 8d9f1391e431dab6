// `docs/concepts.md` names the tests and scenarios that show each promise, so every one of them has to exist.

import Foundation
import TestEnvironment
import Testing

@Suite struct PromisesPageTests {
  @Test func `every promise names tests or scenarios, and all of them exist`() throws {
    let rows = Self.promises(in: try Project.text("docs/concepts.md"))
    #expect(rows.count >= 10, "the table has only \(rows.count) promises")
    let tests = try Self.names(in: "Tests", with: ".swift")
    for row in rows {
      #expect(!row.proofs.isEmpty, "the promise \(row.name) names no test")
      for proof in row.proofs {
        let words = proof.split(separator: " ").map(String.init)
        let exists =
          words.count == 2 && words[0].hasPrefix("scripts/")
          ? FileManager.default.fileExists(atPath: Project.path("\(words[0])s/\(words[1]).sh")) : tests.contains(proof)
        #expect(exists, "the promise \(row.name) names \(proof), which does not exist")
      }
    }
  }

  @Test func `a row is read with its name and what its last column has in backquotes`() {
    let page = """
      ## Promises, and where each ends

      | promise | limits | shown by |
      |---|---|---|
      | **A thing.** Yes. | No: `x`. | `ATests`, `scripts/scenario b` |

      ## Bad days
      | **Another thing.** | | `CTests` |
      """
    let rows = Self.promises(in: page)
    #expect(rows.map(\.name) == ["A thing."] && rows.map(\.proofs) == [["ATests", "scripts/scenario b"]])
  }

  /// Returns the rows of the table of promises: the bold beginning, and the names in the last column.
  private static func promises(in page: String) -> [(name: String, proofs: [String])] {
    page.split(separator: "\n").drop { !$0.hasPrefix("## Promises") }.dropFirst().prefix { !$0.hasPrefix("## ") }
      .filter { $0.hasPrefix("|") }.dropFirst(2)
      .map { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        let name = cells[0].components(separatedBy: "**").dropFirst().first ?? ""
        let quoted = (cells.last ?? "").components(separatedBy: "`").enumerated()
          .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        return (name, cells.count == 3 ? quoted : [])
      }
  }

  /// Returns the names of the files below a folder, without their ending.
  private static func names(in folder: String, with ending: String) throws -> Set<String> {
    let files = try FileManager.default.subpathsOfDirectory(atPath: Project.path(folder))
    return Set(
      files.filter { $0.hasSuffix(ending) }.map { path in
        String((path.split(separator: "/").last ?? "").dropLast(ending.count))
      })
  }
}
