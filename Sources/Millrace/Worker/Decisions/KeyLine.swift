// The records of one key inside a lane, in order.

internal import AppStore

/// One key's records that were admitted and not handed out.
struct KeyLine<Record: Sendable>: Sendable {
  struct Place: Sendable {
    var record: Record
    /// The group's place among the groups.
    var group: Int
    var bytes: Int
    var deadline: Timestamp?
  }

  /// What its records have in common.
  var key: [UInt8]
  /// Whether a record of the key is with a handler.
  var isBusy = false
  /// The entry among the ready keys that counts; older ones are stale.
  var readyNumber: UInt64?

  private var live = FIFO<Place>()
  private var replayed = FIFO<Place>()
  // The deadlines of `live` that have nothing earlier behind them, ascending: the first is the earliest of all, at a
  // cost of one step each.
  private var deadlines = FIFO<Timestamp>()

  init(key: [UInt8]) { self.key = key }

  var isEmpty: Bool { live.isEmpty && replayed.isEmpty }
  /// Whether only replayed records are left.
  var isReplayOnly: Bool { live.isEmpty }
  /// The group of the next record: live traffic goes first.
  var firstGroup: Int? { (live.first ?? replayed.first)?.group }
  /// The earliest deadline of the live records: what waits in front of an urgent record is as urgent as it.
  var earliestDeadline: Timestamp? { deadlines.first }

  mutating func append(_ place: Place, isReplay: Bool) {
    guard !isReplay else { return replayed.append(place) }
    live.append(place)
    guard let deadline = place.deadline else { return }
    while let last = deadlines.last, last > deadline { _ = deadlines.popLast() }
    deadlines.append(deadline)
  }

  mutating func popFirst() -> Place? {
    guard let place = live.popFirst() else { return replayed.popFirst() }
    if let deadline = place.deadline, deadlines.first == deadline { _ = deadlines.popFirst() }
    return place
  }
}
