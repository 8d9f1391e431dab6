// Counts refused requests by reason for the report of the process, which the console and `millrace status` show. Metrics have
// the same counts, but their readers need Prometheus.

internal import AppStore
internal import MillraceRecords
internal import MillraceTime
internal import Synchronization

/// The number of refused requests by reason.
final class RefusalCounts: Sendable {
  private let counts = Mutex<[String: ProcessReport.Refusals]>([:])

  /// Counts a request. Reasons come from a closed set; others than the first ``ProcessReport/maximumReasons`` are left out.
  func add(_ reason: String, at time: Timestamp) {
    counts.withLock { counts in
      guard counts[reason] != nil || counts.count < ProcessReport.maximumReasons else { return }
      var refusals = counts[reason] ?? .init(reason: reason, count: 0, lastAt: time)
      refusals.count += 1
      refusals.lastAt = max(refusals.lastAt, time)
      counts[reason] = refusals
    }
  }

  /// The counts, in order of their reasons.
  var all: [ProcessReport.Refusals] { counts.withLock { $0.values.sorted { $0.reason < $1.reason } } }
}
