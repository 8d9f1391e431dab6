// The page of metrics is an interface: a worker to which everything happens serves the kinds, the labels and the values
// that stand there, and no others.

import AppStore
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct WorkerMetricsPageTests {
  /// Of these sections a worker serves nothing.
  private static let elsewhere = [
    "The ingress": "another process, whose names and texts IngressTests hold against the page",
    "Backfill": "`millrace backfill --follow` is another process, and counts nothing of a worker's",
  ]

  /// What a worker does not serve here, and why.
  private static var missing: [String: String] {
    #if os(Linux)
      [:]
    #else
      [
        "process_cpu_seconds_total", "process_resident_memory_bytes", "process_threads", "process_open_fds",
      ].reduce(into: [:]) { $0[$1] = "read from /proc" }
    #endif
  }

  @Test func `a worker to which everything happens serves what the page says`() async throws {
    let mill = try await MetricsMill()
    try await mill.answerAndFail()
    try await mill.skip()
    try await mill.loseLanesAndRecords()
    let strict = try await strictOrder()
    var served = try withExtendedLifetime(mill) { try ServedMetric.all(in: mill.registry) }
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
        // "Buckets from 0.5 ms to 10 s", and the rest.
        let bounds = metric.bounds.compactMap { Double($0) }
        #expect(bounds.filter(\.isFinite).min() == 0.0005 && bounds.filter(\.isFinite).max() == 10)
        #expect(metric.bounds.contains("+Inf") && bounds.count == metric.bounds.count)
      }
    }
    try checkValues(of: served, against: Dictionary(promised.map { ($0.name, $0) }) { $1 }, mill.topics)
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
    // The code of what the handler threw, and the runtime's own.
    #expect(values("retries_total", "reason") == (try quoted("retries_total")).subtracting(["code"]).union(["not-yet"]))
    let types = Set(NotificationTypeV2.allKnown.map(\.rawValue)).union(["unknown", "timer"])
    let counted = values("records_total", "type")
    #expect(counted.isSubset(of: types) && counted.contains("unknown") && counted.count > 5, "\(counted)")
    let timed = values("handler_duration_seconds", "type")
    #expect(timed.contains("timer") && timed.isSubset(of: types), "\(timed)")
    #expect(values("retries_total", "tier") == Set(topics.retries))
    #expect(values("lag_records", "topic") == Set(topics.sources))
    for name in ["records_in_flight", "lag_records", "lag_seconds", "ledger_entries"] {
      #expect(values(name, "lane") == ["0", "1"], "\(name)")
    }
  }

  /// Successors that wait behind a record of their key.
  private func strictOrder() async throws -> [String: ServedMetric] {
    let mill = try Mill(lanes: 1) { $0.ordering = .strict }
    let process = mill.start(
      "p",
      MillHandler(Book()) { item, journal in
        if item.attempt == 0 { throw RetryableFailure("not yet", code: "not-yet") }
        return try await MillHandler.answer(item, journal)
      })
    for id in ["first", "second"] { try mill.put(id, key: "k") }
    #expect(await mill.until { mill.answered().count == 2 && mill.isRead() } != nil)
    await process.crash()
    return try ServedMetric.all(in: mill.metrics)
  }
}
