// The metrics of `--follow`. Names and labels are an interface: docs/metrics.md describes them, and a test compares
// both.

internal import AppStore
package import CoreMetrics
internal import Metrics
internal import MillraceWorker

/// The metrics of `--follow`. Label values come from the configured apps, Apple's types and a fixed set of words.
package struct FollowMetrics: Sendable {
  /// Name and help text of each.
  package static let helpTexts = [
    ("millrace_backfill_published_total", "Notifications written from Apple's history to their topics, by type."),
    ("millrace_backfill_quarantined_total", "Quarantined items of Apple's history, by reason."),
    ("millrace_backfill_passes_total", "Passes over a history, by result."),
    ("millrace_backfill_behind_seconds", "Age of the time up to which Apple's history has been read, in seconds."),
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
