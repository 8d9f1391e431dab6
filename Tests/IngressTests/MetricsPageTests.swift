// Compares docs/metrics.md with the metrics in the code.

import MillraceTime
import Foundation
import TestEnvironment
import Testing

@testable import Ingress
@testable import MillraceCore
@testable import MillraceWorker
@testable import OpenTelemetry
@testable import Operations

@Suite struct MetricsPageTests {
  private struct Row: Hashable {
    var name: String
    var kind: String
    var meaning: String
  }

  private func page() throws -> [Row] {
    try Project.text("docs/metrics.md").split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count >= 3, line.hasPrefix("| `") else { return nil }
      return Row(
        name: cells[0].trimmingCharacters(in: ["`"]), kind: cells[1], meaning: cells[cells.count - 1])
    }
  }

  @Test func `the page has one row for every metric, with its help text`() throws {
    let collectors = ProcessMetrics.collectors + [Heartbeat(clock: .system).collector]
    let texts =
      WorkerMetrics.helpTexts + KafkaMetrics.helpTexts + BudgetMetrics.helpTexts + IngressMetrics.helpTexts
      + FollowMetrics.helpTexts + SpanExporter.helpTexts
      + collectors.map { ($0.name, $0.help) }
      + [
        (IngressServer.certificateEndName, IngressServer.certificateEndHelp),
        (IngressServer.appleLeafName, IngressServer.appleLeafHelp),
        ("millrace_metrics_conflicts_total", "Metrics dropped because their name is used with another kind."),
      ]
    // PostgresTests and HTTPWorkersTests compare the metrics of millrace-postgres and millrace-worker.
    let rows = try page().filter { row in
      !["millrace_postgres_", "millrace_http_worker_"].contains { row.name.hasPrefix($0) }
    }
    #expect(Set(rows.map(\.name)) == Set(texts.map(\.0)))
    #expect(rows.count == texts.count)
    for (name, help) in texts {
      let row = try #require(rows.first { $0.name == name }, "\(name)")
      #expect(row.meaning.hasPrefix(help), "\(name)")
      #expect(name.hasSuffix("_total") == (row.kind == "counter"), "\(name)")
    }
  }
}
