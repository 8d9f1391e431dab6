// Parses the metrics in `docs/metrics.md` and those that a registry serves, so that a test can compare them.

import Foundation
import TestEnvironment

@testable import MillraceCore

/// A row of the page.
struct PromisedMetric: Sendable, Hashable {
  var section: String
  var name: String
  var kind: String
  /// The labels of the row and of its section.
  var labels: Set<String>
  var meaning: String

  /// The values that the meaning names in backticks.
  var quoted: Set<String> { PromisedMetric.quoted(in: meaning) }

  /// Returns the rows of the page.
  static func page() throws -> [PromisedMetric] {
    let text = try String(contentsOfFile: "\(Project.root)/docs/metrics.md", encoding: .utf8)
    var rows: [PromisedMetric] = []
    var section = ""
    var shared: Set<String> = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("## ") {
        (section, shared) = (String(line.dropFirst(3)), [])
      } else if line.hasPrefix("| `") {
        let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
          .map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == 4, let name = quoted(in: cells[0]).first else { throw Unreadable(line: String(line)) }
        rows.append(
          PromisedMetric(
            section: section, name: name, kind: cells[1], labels: shared.union(quoted(in: cells[2])), meaning: cells[3])
        )
      } else if !line.hasPrefix("|"), rows.last?.section != section {
        // "Labels: `app` (bundle id), `environment`." before a table applies to all of its rows.
        for sentence in line.components(separatedBy: ". ") where sentence.lowercased().contains("label") {
          shared.formUnion(quoted(in: sentence))
        }
      }
    }
    return rows
  }

  private static func quoted(in text: String) -> Set<String> {
    Set(
      text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
        String($0.element)
      })
  }

  struct Unreadable: Error { var line: String }
}

/// A metric as Prometheus reads it.
struct ServedMetric: Sendable, Hashable {
  var kind = ""
  var help: String?
  /// The labels of each series, without the bounds of a histogram.
  var series: Set<[String: String]> = []
  /// The bounds of a histogram.
  var bounds: Set<String> = []

  func values(of label: String) -> Set<String> { Set(series.compactMap { $0[label] }) }

  /// Returns the metrics that a registry serves, by name.
  static func all(in registry: PrometheusRegistry) throws -> [String: ServedMetric] {
    var found: [String: ServedMetric] = [:]
    var name = ""
    for line in registry.render().split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 3).map(String.init)
      switch (words[0], words.count) {
      case ("#", 4) where words[1] == "HELP": found[words[2], default: ServedMetric()].help = words[3]
      case ("#", 4) where words[1] == "TYPE":
        name = words[2]
        found[name, default: ServedMetric()].kind = words[3]
      default:
        guard line.hasPrefix(name) else { throw PromisedMetric.Unreadable(line: String(line)) }
        var labels: [String: String] = [:]
        for match in line.matches(of: #/([a-z_]+)="((?:[^"\\]|\\.)*)"/#) { labels[String(match.1)] = String(match.2) }
        if let bound = labels.removeValue(forKey: "le") { found[name]?.bounds.insert(bound) }
        found[name]?.series.insert(labels)
      }
    }
    return found
  }
}
