// The deliveries of each webhook, from the tables of the first page. Pure.

internal import AppStore
internal import KafkaClient
internal import MillraceCore
internal import Operations

/// One webhook.
struct WebhookRow: Sendable, Hashable {
  /// The worker's name.
  var worker: String
  /// The name without `webhook-`.
  var name: String { Self.name(of: worker) }
  /// The number of offsets of events topics and of its replay topic that the webhook has processed: delivered, not
  /// subscribed, moved to a retry topic, or given up.
  var processed: Int64
  /// The number of offsets that it has not processed.
  var behind: Int64
  /// The number of events that wait in its retry topics.
  var waiting: Int
  /// The number of retries that were planned in the last hour.
  var retried: Int
  /// The number of open dead letters.
  var dead: Int
  /// Whether an operator has paused it.
  var isPaused: Bool
}

extension ConsoleTables {
  /// Returns the rows of all webhooks.
  func webhookRows(now: Timestamp, lags: [WorkerLag], retries: [RetryTable.Row]) -> [WebhookRow] {
    guard !topics.webhooks.isEmpty else { return [] }
    let flow = flow.rows(now: now)
    let dead = deadLetters.groups().groups
    return topics.webhooks.map { worker in
      let inputs = Set(topics.inputs(of: worker))
      let processed = (facts.committed[worker] ?? [:]).reduce(Int64(0)) { sum, entry in
        guard inputs.contains(entry.key.topic), let range = facts.ranges[entry.key] else { return sum }
        return sum + max(0, entry.value - range.lowerBound)
      }
      return WebhookRow(
        worker: worker, processed: processed, behind: lags.first { $0.worker == worker }?.records ?? 0,
        waiting: retries.filter { $0.worker == worker }.reduce(0) { $0 + $1.waiting },
        retried: flow.filter { $0.key.outcome == .delayed && $0.key.place == worker }
          .reduce(0) { $0 + $1.total(ofLast: FlowTable.span) },
        dead: dead.filter { $0.key.worker == worker }.reduce(0) { $0 + $1.open }, isPaused: paused.contains(worker))
    }
  }
}
