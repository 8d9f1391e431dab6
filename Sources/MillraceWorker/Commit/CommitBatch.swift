// Decides which outcomes go into one commit.

internal import MillraceTime

/// Groups outcomes by time and count, and keeps them until Kafka has them.
///
/// It holds decisions that are final. After an aborted transaction it returns the same writes in the same order, before
/// all later ones, and no handler runs again. Order matters for two reasons: events of a key must stay in order, and a
/// record that was skipped because of an outcome must not be finished before it.
///
/// After an abort the batch size is halved, down to one, because a batch that took too long for a transaction would
/// take too long again. Each commit doubles the size, up to the limit.
struct CommitBatch<Write: Sendable>: Sendable {
  /// Writes that a lane added together, in its order. They are kept together, so that a commit does not copy them one
  /// by one.
  struct Item: Sendable {
    var lane: LaneEpoch
    var writes: [Write]
  }

  /// The time when the next batch has to be committed.
  enum Readiness: Sendable, Hashable {
    /// No writes wait, or a batch is being committed.
    case idle
    /// At this time, unless more writes arrive.
    case at(MillraceClock.Instant)
    /// Immediately.
    case now
  }

  private let limit: Int
  private let interval: Duration
  private var size: Int
  private var lanes: Set<LaneEpoch> = []
  private var pending: [Item] = []
  private var pendingCount = 0
  private var oldest: MillraceClock.Instant?
  private var isUrgent = false
  private var onItsWay: [Item] = []

  /// - Parameters:
  ///   - limit: The maximum number of writes in one commit.
  ///   - interval: The longest time that a write waits before its commit starts.
  init(limit: Int, interval: Duration) {
    self.limit = max(1, limit)
    self.interval = interval
    size = self.limit
  }

  /// The number of writes that are not in Kafka yet.
  var count: Int { pendingCount + Self.count(onItsWay) }

  /// Accepts writes of this lane from now on.
  mutating func attach(_ lane: LaneEpoch) { lanes.insert(lane) }

  /// The lane's epoch is over.
  /// - Returns: The writes of the lane that will not be committed. Those in the current batch are not among them;
  ///   ``committed()`` or ``aborted()`` returns them.
  mutating func detach(_ lane: LaneEpoch) -> [Write] {
    lanes.remove(lane)
    let dropped = pending.filter { $0.lane == lane }.flatMap(\.writes)
    pending.removeAll { $0.lane == lane }
    pendingCount -= dropped.count
    if pending.isEmpty { rest() }
    return dropped
  }

  /// Adds writes.
  /// - Parameter isUrgent: Whether a task waits for one of them. Then the commit starts at once.
  /// - Returns: False if the lane's epoch is over; the writes were not added.
  mutating func add(_ writes: [Write], of lane: LaneEpoch, isUrgent: Bool, now: MillraceClock.Instant) -> Bool {
    guard lanes.contains(lane) else { return false }
    guard !writes.isEmpty else { return true }
    pending.append(Item(lane: lane, writes: writes))
    pendingCount += writes.count
    if oldest == nil { oldest = now }
    if isUrgent { self.isUrgent = true }
    return true
  }

  /// Makes pending writes urgent, for a lane that drains.
  mutating func hurry() { if !pending.isEmpty { isUrgent = true } }

  /// The time when ``begin(now:)`` has to be called.
  func readiness(now: MillraceClock.Instant) -> Readiness {
    guard onItsWay.isEmpty, !pending.isEmpty else { return .idle }
    // Writes of an aborted commit are urgent, even if no new ones have arrived.
    guard !isUrgent, pendingCount < size, let due = oldest?.advanced(by: interval), now < due else { return .now }
    return .at(due)
  }

  /// Returns the next batch. Only one batch is committed at a time. Remaining writes wait for another interval, unless
  /// this batch was urgent.
  mutating func begin(now: MillraceClock.Instant) -> [Item]? {
    guard onItsWay.isEmpty, !pending.isEmpty else { return nil }
    onItsWay = takeFirst(size)
    if pending.isEmpty { rest() } else { oldest = now }
    return onItsWay
  }

  /// The batch is in Kafka.
  /// - Returns: Its writes, including writes of lanes that have gone meanwhile.
  mutating func committed() -> [Item] {
    size = min(limit, size * 2)
    defer { onItsWay = [] }
    return onItsWay
  }

  /// The batch was not committed. Its writes come first in the next one.
  /// - Returns: The writes of lanes that have gone meanwhile. Their new owners start from the committed offsets.
  mutating func aborted() -> [Write] {
    size = max(1, min(size, Self.count(onItsWay)) / 2)
    let dropped = onItsWay.filter { !lanes.contains($0.lane) }
    let kept = onItsWay.filter { lanes.contains($0.lane) }
    pending.insert(contentsOf: kept, at: 0)
    pendingCount += Self.count(kept)
    onItsWay = []
    if pending.isEmpty { rest() } else { isUrgent = true }
    return dropped.flatMap(\.writes)
  }

  /// Whether all writes of a lane are in Kafka.
  func isFlushed(_ lane: LaneEpoch) -> Bool {
    !pending.contains { $0.lane == lane } && !onItsWay.contains { $0.lane == lane }
  }

  /// Removes the first writes, at most `limit`. The last item may be split.
  private mutating func takeFirst(_ limit: Int) -> [Item] {
    var left = limit
    let whole = pending.prefix { item in
      guard item.writes.count <= left else { return false }
      left -= item.writes.count
      return true
    }
    var first = Array(whole)
    pending.removeFirst(first.count)
    if left > 0, !pending.isEmpty {
      first.append(Item(lane: pending[0].lane, writes: Array(pending[0].writes.prefix(left))))
      pending[0].writes.removeFirst(left)
      left = 0
    }
    pendingCount -= limit - left
    return first
  }

  private static func count(_ items: [Item]) -> Int { items.reduce(0) { $0 + $1.writes.count } }

  private mutating func rest() {
    oldest = nil
    isUrgent = false
  }
}
