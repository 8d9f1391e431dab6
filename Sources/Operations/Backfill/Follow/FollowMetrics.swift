// What `--follow` counts. Names and labels are an interface: docs/metrics.md describes them, and a test holds the two
// together.

internal import AppStore
package import CoreMetrics
internal import Metrics
internal import Millrace

/// The metrics of `--follow`. Labels are the operator's own apps, Apple's types and a few words.
package struct FollowMetrics: Sendable {
  /// Name and help text of each.
  package static let helpTexts = [
    ("millrace_backfill_published_total", "Notifications from Apple's history that are in their topics, by type."),
    ("millrace_backfill_quarantined_total", "Items of Apple's history that could not be believed, by reason."),
    ("millrace_backfill_passes_total", "Passes over a history, by result."),
    ("millrace_backfill_behind_seconds", "How long ago everything before was last asked for, in seconds."),
  ]

  private let factory: any MetricsFactory

  package init(factory: any MetricsFactory) { self.factory = factory }

  func count(_ outcome: HistoryPublisher.Outcome, of target: BackfillTarget) {
    for (type, count) in outcome.published { counter("published", target, ("type", type)).increment(by: count) }
    for (reason, count) in outcome.quarantined {
      counter("quarantined", target, ("reason", reason.rawValue)).increment(by: count)
    }
  }

  func pass(_ target: BackfillTarget, isDone: Bool) {
    counter("passes", target, ("result", isDone ? "done" : "failed")).increment()
  }

  private func counter(_ name: String, _ target: BackfillTarget, _ label: (String, String)) -> Counter {
    Counter(
      label: "millrace_backfill_\(name)_total", dimensions: target.labels + [label], factory: factory)
  }
}

extension BackfillTarget {
  var labels: [(String, String)] { [("app", bundleId), ("environment", environment.rawValue)] }
}
