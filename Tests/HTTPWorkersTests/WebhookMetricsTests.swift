// The posts of webhooks in the metrics of HTTP workers.

import Foundation
import MillraceCore
import MillraceWorker
import TestEnvironment
import Testing

@testable import HTTPWorkers

@Suite struct WebhookMetricsTests {
  private static let replies: [(reply: ReceiverReply, labels: String)] = [
    (.answered(.taken, status: 204), #"outcome="done",status="204""#),
    (.answered(.refused, status: 410), #"outcome="gone",status="410""#),
    (.answered(.refused, status: 403), #"outcome="refused",status="4xx""#),
    (.answered(.later(code: "busy", after: nil), status: 429), #"outcome="later",status="429""#),
    (.answered(.later(code: "server-error", after: nil), status: 502), #"outcome="failed",status="5xx""#),
    (.failed(code: "timeout", detail: ""), #"outcome="failed",status="none""#),
  ]

  @Test func `each reply has an outcome that the page lists`() throws {
    let page = try Project.text("docs/metrics.md")
    let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("HTTP workers\n") })
    #expect(section.contains("`event`"))
    for (reply, labels) in Self.replies {
      let registry = PrometheusRegistry()
      HTTPWorkerMetrics(worker: "webhook-crm", factory: registry).ended(reply, in: .seconds(1))
      let text = registry.render()
      let line = try #require(
        text.split(separator: "\n").first { $0.hasPrefix("millrace_http_worker_requests_total{") })
      let wanted = labels.split(separator: ",").map(String.init) + [#"kind="event""#, #"worker="webhook-crm""#]
      for label in wanted { #expect(line.contains(label), "\(line)") }
      let outcome = String(try #require(labels.split(separator: "\"").dropFirst().first))
      #expect(section.contains("`\(outcome)`"), "\(outcome)")
    }
  }
}
