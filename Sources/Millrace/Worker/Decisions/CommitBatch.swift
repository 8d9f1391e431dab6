// Which outcomes go into Kafka together.

internal import Clocks

/// Groups outcomes by time and count, and keeps them until Kafka has them.
///
/// It holds what was decided, never what is to be decided: an aborted batch comes back as the same writes in the same
/// order, before everything that was decided later, and no handler hears of it. Order matters twice: a key's events
/// follow each other, and a record that was skipped because of an outcome is finished with it or later.
///
/// After an abort half as many go together, down to one: a batch that is too much for the time of a transaction would
/// be too much again. Each commit doubles that, up to the limit.
struct CommitBatch<Write: Sendable>: Sendable {
  /// What a lane handed in at once, in its order. Kept together: what goes into one commit is not copied one by one.
  struct Item: Sendable {
    var lane: LaneEpoch
    var writes: [Write]
  }

  /// What goes into Kafka together.
  struct Batch: Sendable {
    var items: [Item]
    /// The lanes written for, sorted. Offsets are sent for all of them, also where none moved: the group fences a
    /// zombie by offset commits only.
    var lanes: [LaneEpoch]
  }

  /// When the next batch is to be committed.
  enum Readiness: Sendable, Hashable {
    /// Nothing waits, or a batch is on its way.
    case idle
    /// Then, unless more comes.
    case at(MillraceClock.Instant)
    /// Now.
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
  ///   - limit: Most writes in one commit.
  ///   - interval: Longest wait of a write for its commit to begin.
  init(limit: Int, interval: Duration) {
    self.limit = max(1, limit)
    self.interval = interval
    size = self.limit
  }

  /// Writes that are not in Kafka yet.
  var count: Int { pendingCount + Self.count(onItsWay) }

  /// Admits a lane's writes from now on.
  mutating func attach(_ lane: LaneEpoch) { lanes.insert(lane) }

  /// The lane's epoch is over.
  /// - Returns: its writes that will not be committed. Those of a batch that is on its way may be; ``committed()`` or
  ///   ``aborted()`` tells.
  mutating func detach(_ lane: LaneEpoch) -> [Write] {
    lanes.remove(lane)
    let dropped = pending.filter { $0.lane == lane }.flatMap(\.writes)
    pending.removeAll { $0.lane == lane }
    pendingCount -= dropped.count
    if pending.isEmpty { rest() }
    return dropped
  }

  /// Takes writes.
  /// - Parameter isUrgent: somebody waits for one: their commit begins at once.
  /// - Returns: false where the lane's epoch is over; nothing changed then.
  mutating func add(_ writes: [Write], of lane: LaneEpoch, isUrgent: Bool, now: MillraceClock.Instant) -> Bool {
    guard lanes.contains(lane) else { return false }
    guard !writes.isEmpty else { return true }
    pending.append(Item(lane: lane, writes: writes))
    pendingCount += writes.count
    if oldest == nil { oldest = now }
    if isUrgent { self.isUrgent = true }
    return true
  }

  /// Commits what waits without waiting for more: a lane drains.
  mutating func hurry() { if !pending.isEmpty { isUrgent = true } }

  /// When to call ``begin(now:)``.
  func readiness(now: MillraceClock.Instant) -> Readiness {
    guard onItsWay.isEmpty, !pending.isEmpty else { return .idle }
    // What came back from an aborted commit is urgent, whether or not anything came since.
    guard !isUrgent, pendingCount < size, let due = oldest?.advanced(by: interval), now < due else { return .now }
    return .at(due)
  }

  /// The next batch; one at a time. What is left over waits anew, and is still urgent where this was.
  mutating func begin(now: MillraceClock.Instant) -> Batch? {
    guard onItsWay.isEmpty, !pending.isEmpty else { return nil }
    onItsWay = takeFirst(size)
    if pending.isEmpty { rest() } else { oldest = now }
    return Batch(items: onItsWay, lanes: Set(onItsWay.map(\.lane)).sorted())
  }

  /// The batch is in Kafka.
  /// - Returns: its writes, those of lanes that went away meanwhile included.
  mutating func committed() -> [Item] {
    size = min(limit, size * 2)
    defer { onItsWay = [] }
    return onItsWay
  }

  /// Nothing of the batch is visible. Its writes come first again.
  /// - Returns: those of lanes that went away meanwhile: whoever owns them now starts from what was committed.
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

  /// Whether a lane has nothing that waits for Kafka.
  func isFlushed(_ lane: LaneEpoch) -> Bool {
    !pending.contains { $0.lane == lane } && !onItsWay.contains { $0.lane == lane }
  }

  /// The first writes, at most `limit`: the last item may be divided.
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
