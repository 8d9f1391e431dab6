// Metrics of the API budget. Label values are the configured apps and Apple's endpoints: outside input adds no series.

internal import AppStore
package import AppStoreServerAPI
package import MillraceCore

/// Metrics of the API budget, computed at each scrape.
package enum BudgetMetrics {
  /// The name and help text of every budget metric.
  package static let helpTexts = [
    ("millrace_api_turns_total", "Calls to the App Store Server API that the budget admitted."),
    ("millrace_api_budget_per_second", "Calls per second that this process may make at present."),
    ("millrace_api_callers_waiting", "Calls that wait for a rate-limit slot."),
    ("millrace_api_paused", "Whether calls are paused after a 429 from Apple: 1 or 0."),
  ]

  package static func collectors(of budget: APIBudget) -> [MetricCollector] {
    let values: [@Sendable (BudgetUse) -> Double] = [
      { Double($0.taken) }, \.perSecond, { Double($0.waiting) }, { $0.isPaused ? 1 : 0 },
    ]
    return zip(helpTexts, values).map { text, value in
      MetricCollector(text.0, text.0.hasSuffix("_total") ? .counter : .gauge, help: text.1) { [weak budget] in
        (budget?.use() ?? []).map { use in
          MetricCollector.Sample(
            value(use),
            labels: [
              ("app", use.key.bundleId), ("environment", use.key.environment.rawValue),
              ("endpoint", use.key.endpoint.rawValue),
            ])
        }
      }
    }
  }
}
