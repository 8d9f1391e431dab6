// The metrics of millrace-postgres. Names and labels are a public interface. A test compares them with `docs/metrics.md`.

package import CoreMetrics
internal import MillraceCore
internal import Metrics

/// The metrics of `millrace-postgres`.
package struct PostgresMetrics: Sendable {
  /// The name and help text of each metric.
  package static let helpTexts = [
    ("millrace_postgres_rows_total", "Records written to the database, by table."),
    ("millrace_postgres_rejected_total", "Records that are not rows, kept in the table rejected, by table."),
    ("millrace_postgres_transaction_duration_seconds", "Duration of a transaction that wrote rows, in seconds."),
    ("millrace_postgres_failures_total", "Failed transactions and connections, by SQLSTATE."),
    ("millrace_postgres_lag_records", "Offsets that are not written yet, by topic."),
    ("millrace_postgres_connected", "Whether the process has a session with the database: 1 or 0."),
  ]

  private let factory: any MetricsFactory
  private let duration: Metrics.Timer
  private let connected: Gauge

  package init(factory: any MetricsFactory = MetricsSystem.factory) {
    self.factory = factory
    duration = Timer(label: "millrace_postgres_transaction_duration_seconds", dimensions: [], factory: factory)
    connected = Gauge(label: "millrace_postgres_connected", dimensions: [], factory: factory)
    connected.record(0)
  }

  func wrote(_ pages: [EncodedPage], in time: Duration) {
    duration.record(duration: time)
    for page in pages {
      let table = [("table", page.table.rawValue)]
      Counter(label: "millrace_postgres_rows_total", dimensions: table, factory: factory)
        .increment(by: page.count - page.rejected.count)
      if !page.rejected.isEmpty {
        Counter(label: "millrace_postgres_rejected_total", dimensions: table, factory: factory)
          .increment(by: page.rejected.count)
      }
    }
  }

  func failed(_ error: PostgresError) {
    Counter(
      label: "millrace_postgres_failures_total", dimensions: [("code", error.code.isEmpty ? "connection" : error.code)],
      factory: factory
    ).increment()
  }

  func lag(of topic: String, _ records: Int64) {
    Gauge(label: "millrace_postgres_lag_records", dimensions: [("topic", topic)], factory: factory).record(records)
  }

  func isConnected(_ value: Bool) { connected.record(value ? 1 : 0) }
}
