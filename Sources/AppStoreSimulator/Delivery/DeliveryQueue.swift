// Deliveries by the time at which they are due.

internal import AppStore

/// One thing to post, now or later.
struct Delivery: Sendable, Hashable {
  let notification: NotificationID
  /// nil: version 2.
  let typeV1: NotificationTypeV1?
  /// Attempts that were made before.
  var attempts = 0
  /// Sent on purpose though it was sent before: never retried, not in `sendAttempts`.
  var isDuplicate = false
}

/// A queue by time; what is due at one moment keeps its order.
struct DeliveryQueue: Sendable {
  private var byTime = TimeOrdered<Delivery>()

  var count: Int { byTime.count }
  var nextDue: Timestamp? { byTime.nextDue }

  mutating func add(_ delivery: Delivery, at due: Timestamp) { byTime.add(delivery, at: due) }
  mutating func popDue(by moment: Timestamp) -> Delivery? { byTime.popDue(by: moment)?.element }

  /// What follows an attempt: nothing after success, a duplicate or the last try; else the same later.
  static func next(
    after delivery: Delivery, outcome: PostOutcome, at moment: Timestamp, version: NotificationVersion,
    environment: AppStoreEnvironment, settings: DeliverySettings
  ) -> (delivery: Delivery, due: Timestamp)? {
    guard outcome.result != .success, !delivery.isDuplicate else { return nil }
    if !settings.retriesAfterClientError, let status = outcome.status, (400...499).contains(status) { return nil }
    var next = delivery
    next.attempts += 1
    guard let wait = RetrySchedule(version, in: environment).wait(afterAttempts: next.attempts) else { return nil }
    return (next, settings.moment(for: moment + wait))
  }
}
