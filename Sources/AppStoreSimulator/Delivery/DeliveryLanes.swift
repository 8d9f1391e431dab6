// Orders deliveries. Each app and environment has its own queue and its own slots, so an unresponsive endpoint does not
// delay the others. First attempts about the same subscription run one after another.

internal import AppStore

/// A delivery, scheduled or due.
struct Delivery: Sendable, Hashable {
  let notification: NotificationID
  /// The version 1 type; nil for version 2.
  let typeV1: NotificationTypeV1?
  /// `originalTransactionId` of the purchase; first attempts with the same value run in order. nil if it is not about a
  /// purchase.
  var subject: Int64?
  /// The number of earlier attempts.
  var attempts = 0
  /// Whether the notification is deliberately sent again. A duplicate is never retried and not part of `sendAttempts`.
  var isDuplicate = false

  /// The key that orders the attempt; nil for retries, duplicates and notifications that are not about a purchase.
  fileprivate var order: Int64? { attempts == 0 && !isDuplicate ? subject : nil }

  /// Returns the delivery to retry and its time; nil after a success, a duplicate or the last attempt.
  func next(
    after outcome: PostOutcome, at moment: Timestamp, in environment: AppStoreEnvironment, _ settings: DeliverySettings
  ) -> (delivery: Delivery, due: Timestamp)? {
    guard outcome.result != .success, !isDuplicate else { return nil }
    if !settings.retriesAfterClientError, let status = outcome.status, (400...499).contains(status) { return nil }
    var next = self
    next.attempts += 1
    let schedule = RedeliverySchedule(typeV1 == nil ? .v2 : .v1, in: environment)
    guard let wait = schedule.wait(afterAttempts: next.attempts) else { return nil }
    return (next, settings.moment(for: moment + wait))
  }
}

/// The unfinished deliveries of all apps.
struct DeliveryLanes: Sendable {
  private struct Lane: Sendable {
    var queue = TimeOrdered<Delivery>()
    /// Deliveries that waited for an earlier one about the same purchase and can now run.
    var ready: [Delivery] = []
    var underWay = 0
  }

  private let slots: Int
  private var lanes: [RealmID: Lane] = [:]
  /// The purchases with a first attempt in progress, and the deliveries that wait for it.
  private var held: [Int64: [Delivery]] = [:]

  /// - Parameter slots: the number of concurrent deliveries for each app and environment; at least one.
  init(slots: Int) { self.slots = max(1, slots) }

  /// The number of deliveries that are scheduled, waiting or in progress.
  var count: Int {
    lanes.values.reduce(0) { $0 + $1.queue.count + $1.ready.count + $1.underWay }
      + held.values.reduce(0) { $0 + $1.count }
  }

  /// The next time at which a delivery is due and a slot is free; nil if nothing can start before a delivery finishes.
  var nextDue: Timestamp? { lanes.values.compactMap { $0.underWay < slots ? $0.queue.nextDue : nil }.min() }

  mutating func add(_ delivery: Delivery, at due: Timestamp) {
    lanes[delivery.notification.realm, default: Lane()].queue.add(delivery, at: due)
  }

  /// Removes and returns the deliveries that are due. Each occupies a slot until ``finish(_:)``.
  mutating func takeDue(by moment: Timestamp) -> [Delivery] {
    var taken: [Delivery] = []
    for realm in lanes.keys.sorted() {
      guard var lane = lanes[realm] else { continue }
      while lane.underWay < slots {
        if let delivery = lane.ready.first {
          lane.ready.removeFirst()
          taken.append(delivery)
        } else if let delivery = lane.queue.popDue(by: moment)?.element {
          if let order = delivery.order {
            guard held[order] == nil else {
              held[order]?.append(delivery)
              continue
            }
            held[order] = []
          }
          taken.append(delivery)
        } else {
          break
        }
        lane.underWay += 1
      }
      lanes[realm] = lane
    }
    return taken
  }

  /// Frees the slot of a finished attempt and releases the next delivery about the same purchase.
  mutating func finish(_ delivery: Delivery) {
    let realm = delivery.notification.realm
    lanes[realm]?.underWay -= 1
    guard let order = delivery.order, var waiting = held[order] else { return }
    guard !waiting.isEmpty else {
      held[order] = nil
      return
    }
    lanes[realm]?.ready.append(waiting.removeFirst())
    held[order] = waiting
  }
}
