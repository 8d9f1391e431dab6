// The notifications of one realm in the order they happened, oldest first, bounded: what is settled makes room, and what
// waits for a delivery steps aside, so that one that waits for days does not keep all that came after it.

/// A bounded log. Positions are sequence numbers, which never change.
public struct NotificationLog: Sendable {
  /// Beyond the newest: what waited for a delivery when its turn to go came, oldest first. What was settled since goes
  /// once it is the half of them.
  private var waiting: [NotificationRecord] = []
  private var settled = 0
  private var storage: [NotificationRecord] = []
  /// Records at the front of `storage` that were dropped and not yet removed.
  private var dropped = 0
  /// The sequence number of the first record in `storage`.
  private var firstSequence: Int64 = 0
  private let capacity: Int
  private var sequences: [CompactUUID: Int64] = [:]

  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// How many are kept: at most twice the capacity, whatever waits.
  public var count: Int { waiting.count + newest.count }

  /// The sequence number of the next record.
  public var nextSequence: Int64 { firstSequence + Int64(newest.count) }

  /// The kept records, oldest first.
  public var records: some BidirectionalCollection<NotificationRecord> { [waiting[...], newest].joined() }

  /// The kept records behind a number, found without a look at those before it.
  func records(after sequence: Int64) -> some Sequence<NotificationRecord> {
    // The end of an empty page lies before every number.
    let last = min(max(sequence, firstSequence - 1), nextSequence - 1)
    return [waiting[place(behind: sequence)...], newest.dropFirst(Int(last + 1 - firstSequence))].joined()
  }

  /// The record of that number; nil when there is none, or not any more.
  public subscript(sequence: Int64) -> NotificationRecord? {
    if let index = index(of: sequence) { return storage[index] }
    return waitingIndex(of: sequence).map { waiting[$0] }
  }

  /// The record of that UUID; nil when there is none, or not any more.
  public subscript(uuid: CompactUUID) -> NotificationRecord? {
    sequences[uuid].flatMap { self[$0] }
  }

  mutating func append(_ record: NotificationRecord) {
    storage.append(record)
    sequences[record.facts.uuid] = record.facts.sequence
    makeRoom()
  }

  /// Changes a record where it stands; does nothing when it is gone.
  mutating func update(_ sequence: Int64, _ change: (inout NotificationRecord) -> Void) {
    if let index = index(of: sequence) {
      change(&storage[index])
      makeRoom()
    } else if let index = waitingIndex(of: sequence) {
      let wasSettled = waiting[index].isSettled
      change(&waiting[index])
      guard waiting[index].isSettled, !wasSettled else { return }
      settled += 1
      if 2 * settled > waiting.count { forget { $0.isSettled } }
    }
  }

  private mutating func forget(_ isOver: (NotificationRecord) -> Bool) {
    for record in waiting where isOver(record) { sequences[record.facts.uuid] = nil }
    waiting.removeAll(where: isOver)
    settled = waiting.count(where: \.isSettled)
  }

  private var newest: ArraySlice<NotificationRecord> { storage[dropped...] }

  private func index(of sequence: Int64) -> Int? {
    guard sequence >= firstSequence, sequence < nextSequence else { return nil }
    return dropped + Int(sequence - firstSequence)
  }

  private func waitingIndex(of sequence: Int64) -> Int? {
    let index = place(behind: sequence) - 1
    return waiting.indices.contains(index) && waiting[index].facts.sequence == sequence ? index : nil
  }

  /// The place in `waiting` of the first record behind that number.
  private func place(behind sequence: Int64) -> Int {
    var (low, high) = (0, waiting.count)
    while low < high {
      let middle = (low + high) / 2
      if waiting[middle].facts.sequence <= sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func makeRoom() {
    while newest.count > capacity {
      let record = storage[dropped]
      dropped += 1
      firstSequence += 1
      if record.isSettled {
        sequences[record.facts.uuid] = nil
      } else {
        waiting.append(record)
      }
    }
    // An endpoint that never answers: the oldest are given up, a quarter at once because removing costs the whole array.
    if waiting.count > capacity {
      let first = waiting[max(1, capacity / 4)].facts.sequence
      forget { $0.facts.sequence < first }
    }
    if dropped > max(1_024, capacity / 4) {
      storage.removeFirst(dropped)
      dropped = 0
    }
  }
}
