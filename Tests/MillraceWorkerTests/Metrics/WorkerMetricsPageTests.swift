// Compares docs/metrics.md with the metrics of a worker that has met every event. The page must list exactly the kinds,
// labels and values that the worker serves.

import AppStore
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct WorkerMetricsPageTests {
  /// Sections of the page with metrics of other processes.
  private static let elsewhere = [
    "The ingress": "another process; IngressTests compares its metrics with the page",
    "Backfill": "`millrace backfill --follow` is another process without a worker's metrics",
    "HTTP workers": "another process; HTTPWorkersTests compares its metrics with the page",
    "Tokens for Kafka": "only with kafka.oauth; scripts/check oauth reads them",
    "Traces": "only with tracing.otlp.endpoint; scripts/check tracing reads them",
    "PostgreSQL": "another process; PostgresTests compares its metrics with the page",
  ]

  /// The metrics that a worker does not serve on this platform, with reasons.
  private static var missing: [String: String] {
    #if os(Linux)
      [:]
    #else
      [
        "process_cpu_seconds_total", "process_resident_memory_bytes", "process_threads", "process_open_fds",
      ].reduce(into: [:]) { $0[$1] = "read from /proc" }
    #endif
  }

  @Test func `a worker that meets every event serves the metrics on the page`() async throws {
    let fleet = try await MetricsFixture()
    try await fleet.answerAndFail()
    try await fleet.skip()
    try await fleet.replaceClients()
    try await fleet.rejoin()
    try await fleet.loseLanesAndRecords()
    let strict = try await strictOrder()
    var served = try withExtendedLifetime(fleet) { try ServedMetric.all(in: fleet.registry) }
    for (name, other) in strict { served[name, default: other].series.formUnion(other.series) }
    let rows = try PromisedMetric.page()
    #expect(Set(Self.elsewhere.keys).isSubset(of: rows.map(\.section)))
    let promised = rows.filter { Self.elsewhere[$0.section] == nil }
    let names = Set(served.filter { !$0.value.series.isEmpty }.keys)
    #expect(names.subtracting(promised.map(\.name)).isEmpty, "not on the page")
    #expect(Set(promised.map(\.name)).subtracting(names) == Set(Self.missing.keys), "not served")
    for row in promised where Self.missing[row.name] == nil {
      let metric = try #require(served[row.name], "\(row.name)")
      #expect(metric.kind == row.kind, "\(row.name)")
      #expect(metric.help.map { row.meaning.hasPrefix($0) } == true, "\(row.name): \(metric.help ?? "no text")")
      for series in metric.series { #expect(Set(series.keys) == row.labels, "\(row.name)") }
      if row.kind == "histogram" {
        // "Buckets from 0.5 ms to 10 s", and +Inf.
        let bounds = metric.bounds.compactMap { Double($0) }
        #expect(bounds.filter(\.isFinite).min() == 0.0005 && bounds.filter(\.isFinite).max() == 10)
        #expect(metric.bounds.contains("+Inf") && bounds.count == metric.bounds.count)
      }
    }
    try checkValues(of: served, against: Dictionary(promised.map { ($0.name, $0) }) { $1 }, fleet.topics)
  }

  private func checkValues(
    of served: [String: ServedMetric], against page: [String: PromisedMetric], _ topics: WorkerTopics
  ) throws {
    func values(_ name: String, _ label: String) -> Set<String> {
      served["millrace_worker_\(name)"]?.values(of: label) ?? []
    }
    func quoted(_ name: String) throws -> Set<String> { try #require(page["millrace_worker_\(name)"]).quoted }
    #expect(values("records_total", "outcome") == (try quoted("records_total")))
    #expect(values("commits_total", "result") == (try quoted("commits_total")))
    #expect(values("rebalances_total", "kind") == (try quoted("rebalances_total")))
    #expect(values("rejoins_total", "reason") == (try quoted("rejoins_total")))
    #expect(values("producer_replacements_total", "cause") == (try quoted("producer_replacements_total")))
    // The code of the handler's error, and the codes of the runtime.
    let reasons = values("retries_total", "reason")
    let promised = try quoted("retries_total").subtracting(["code", ".retry"]).union(["not-yet"])
    #expect(reasons == promised, "\(reasons.symmetricDifference(promised))")
    let failures = try quoted("timer_failures_total")
    #expect(values("timer_failures_total", "reason") == ["handler-error"] && failures.contains("handler-error"))
    let types = Set(NotificationTypeV2.allKnown.map(\.rawValue)).union(["unknown", "timer"])
    let counted = values("records_total", "type")
    #expect(counted.isSubset(of: types) && counted.contains("unknown") && counted.count > 5, "\(counted)")
    let timed = values("handler_duration_seconds", "type")
    #expect(timed.contains("timer") && timed.isSubset(of: types), "\(timed)")
    #expect(values("retries_total", "topic") == Set(topics.retries))
    let offsets = ["lag_records", "unread_records", "reading_stalled_seconds"]
    for name in offsets { #expect(values(name, "topic") == Set(topics.sources), "\(name)") }
    for name in offsets + ["records_in_flight", "lag_seconds", "ledger_entries", "timers_failing"] {
      #expect(values(name, "lane") == ["0", "1"], "\(name)")
    }
  }

  /// Returns the metrics of a worker with strict ordering and a waiting successor.
  private func strictOrder() async throws -> [String: ServedMetric] {
    let fleet = try WorkerFleet(lanes: 1) { $0.ordering = .strict }
    let process = fleet.start(
      "p",
      FleetHandler(Book()) { item, recorder in
        if item.attempt == 0 { return .retry(because: "not-yet") }
        return try await FleetHandler.answer(item, recorder)
      })
    for id in ["first", "second"] { try fleet.put(id, key: "k") }
    #expect(await fleet.until { fleet.answered().count == 2 && fleet.isRead() } != nil)
    await process.crash()
    return try ServedMetric.all(in: fleet.metrics)
  }
}
