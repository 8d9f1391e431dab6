// What is used of Apple's limits. Labels are the operator's own apps and Apple's endpoints.

internal import AppStore
package import AppStoreServerAPI

/// Budgets as metrics, asked for at each reading.
package enum BudgetMetrics {
  /// Name and help text of every metric of a budget.
  package static let helpTexts = [
    ("millrace_api_turns_total", "Turns taken: calls to the App Store Server API that were let go."),
    ("millrace_api_budget_per_second", "Turns a second that this process has by now."),
    ("millrace_api_callers_waiting", "Callers that wait for their turn."),
    ("millrace_api_paused", "Whether Apple said 429 and its time is not over: 1 or 0."),
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
