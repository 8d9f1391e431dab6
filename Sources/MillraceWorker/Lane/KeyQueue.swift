// The records of one key in a lane, in order.

internal import AppStore
internal import DequeModule

/// The records of one key that are admitted and not yet given to a handler.
struct KeyQueue<Record: Sendable>: Sendable {
  struct Place: Sendable {
    var record: Record
    /// The index of the record's group.
    var group: Int
    var bytes: Int
    var deadline: Timestamp?
  }

  /// The key that the records have in common.
  var key: [UInt8]
  /// Whether a handler runs a record of the key.
  var isBusy = false
  /// The number of the key's current entry in the ready queue; older entries are stale.
  var readyNumber: UInt64?

  private var live = Deque<Place>()
  private var replayed = Deque<Place>()
  // Deadlines of `live` that are not later than any that follow, ascending. The first is the earliest of all, and each
  // update takes one step on average.
  private var deadlines = Deque<Timestamp>()

  init(key: [UInt8]) { self.key = key }

  var isEmpty: Bool { live.isEmpty && replayed.isEmpty }
  /// Whether only replayed records are left.
  var isReplayOnly: Bool { live.isEmpty }
  /// The group of the next record. Live records go first.
  var firstGroup: Int? { (live.first ?? replayed.first)?.group }
  /// The earliest deadline of the live records. Records in front of an urgent one are as urgent as it is.
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
