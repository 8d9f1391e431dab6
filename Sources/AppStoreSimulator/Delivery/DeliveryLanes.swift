// Which delivery goes next. Each app has in each environment a queue by time and slots of its own, so that an endpoint
// that never answers delays nobody else; and of one subscription the first attempts go one after the other.

internal import AppStore

/// One thing to post, now or later.
struct Delivery: Sendable, Hashable {
  let notification: NotificationID
  /// nil: version 2.
  let typeV1: NotificationTypeV1?
  /// `originalTransactionId` of what it is about: first attempts about one go in their order. nil: about no purchase.
  var subject: Int64?
  /// Attempts that were made before.
  var attempts = 0
  /// Sent on purpose though it was sent before: never retried, not in `sendAttempts`.
  var isDuplicate = false

  /// What orders this attempt among others; nil for what has no order: retries, duplicates, news about no purchase.
  fileprivate var order: Int64? { attempts == 0 && !isDuplicate ? subject : nil }

  /// What follows an attempt: nothing after success, a duplicate or the last try; else the same later.
  func next(
    after outcome: PostOutcome, at moment: Timestamp, in environment: AppStoreEnvironment, _ settings: DeliverySettings
  ) -> (delivery: Delivery, due: Timestamp)? {
    guard outcome.result != .success, !isDuplicate else { return nil }
    if !settings.retriesAfterClientError, let status = outcome.status, (400...499).contains(status) { return nil }
    var next = self
    next.attempts += 1
    let schedule = RetrySchedule(typeV1 == nil ? .v2 : .v1, in: environment)
    guard let wait = schedule.wait(afterAttempts: next.attempts) else { return nil }
    return (next, settings.moment(for: moment + wait))
  }
}

/// The deliveries of all apps that are not over.
struct DeliveryLanes: Sendable {
  private struct Lane: Sendable {
    var queue = TimeOrdered<Delivery>()
    /// What waited for an earlier one about the same, whose turn has come.
    var ready: [Delivery] = []
    var underWay = 0
  }

  private let slots: Int
  private var lanes: [RealmID: Lane] = [:]
  /// What is told of for the first time at this moment, each with what has to wait for it.
  private var held: [Int64: [Delivery]] = [:]

  /// - Parameter slots: deliveries under way at one time in each lane, at least one.
  init(slots: Int) { self.slots = max(1, slots) }

  /// Deliveries that are planned, held or under way.
  var count: Int {
    lanes.values.reduce(0) { $0 + $1.queue.count + $1.ready.count + $1.underWay }
      + held.values.reduce(0) { $0 + $1.count }
  }

  /// When the next one is due in a lane with a free slot; nil: only the end of one that is under way changes anything.
  var nextDue: Timestamp? { lanes.values.compactMap { $0.underWay < slots ? $0.queue.nextDue : nil }.min() }

  mutating func add(_ delivery: Delivery, at due: Timestamp) {
    lanes[delivery.notification.realm, default: Lane()].queue.add(delivery, at: due)
  }

  /// What is to be posted now, each in a slot that ``finish(_:)`` frees again.
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

  /// An attempt is over: its slot is free, and the next one about the same may go.
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
