// Compares the section "HTTP workers" of docs/metrics.md with the metrics of a worker that has met every answer.

import AppStore
import AppStoreServerAPI
import Foundation
import MillraceCore
import TestEnvironment
import Testing

@testable import HTTPWorkers

@Suite struct HTTPWorkerMetricsTests {
  private static let answers: [(EndpointAnswer, Int?)] = [
    (.outcome(.results(.init())), 200), (.nothing, 204), (.outcome(.retry(after: nil, reason: "r", detail: "")), 200),
    (.outcome(.deadLetter(reason: "r", detail: "")), 200),
    (.later(at: .init(millisecondsSince1970: 0), status: 429), 429), (.failed(.timeout, detail: ""), nil),
    (.failed(.serverError, detail: ""), 502), (.refused(status: 422, detail: ""), 422),
    (.misconfigured(status: 405), 405), (.invalid(detail: ""), 200),
  ]

  @Test func `the page lists the metrics of an HTTP worker`() throws {
    let registry = PrometheusRegistry()
    for (name, help) in HTTPWorkerMetrics.helpTexts { registry.describe(name, help) }
    let metrics = HTTPWorkerMetrics(worker: "winback", factory: registry)
    for (answer, status) in Self.answers {
      for kind in HandlerRequest.Kind.allCases {
        metrics.ended(kind, EndpointReply(answer, status.map { ExchangeAnswer(status: $0) }), in: .seconds(1))
      }
    }
    metrics.isOpen(true)
    metrics.beganWaiting()
    let text = registry.render()
    let page = try Project.text("docs/metrics.md")
    let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("HTTP workers\n") })
    let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `millrace_") }
    #expect(rows.count == HTTPWorkerMetrics.helpTexts.count)
    for (row, (name, help)) in zip(rows, HTTPWorkerMetrics.helpTexts) {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(cells[0] == "`\(name)`" && cells[3].hasPrefix(help))
      #expect(text.contains("# HELP \(name) \(help)\n# TYPE \(name) \(cells[1])\n"), "\(name)")
      let line = try #require(
        text.split(separator: "\n").first { $0.hasPrefix(name + "{") || $0.hasPrefix(name + "_") })
      for label in cells[2].split(separator: ",").map({ $0.filter { $0 != "`" && $0 != " " } }) {
        #expect(line.contains(label + "=\""), "\(line)")
      }
      #expect(line.contains(#"worker="winback""#))
    }
    for (answer, _) in Self.answers { #expect(section.contains("`\(HTTPWorkerMetrics.outcome(answer))`")) }
    for kind in HandlerRequest.Kind.allCases { #expect(section.contains("`\(kind.rawValue)`")) }
    #expect(text.contains(#"status="none""#) && text.contains(#"status="5xx""#) && text.contains(#"status="4xx""#))
  }
}
