// The notifications of one realm, oldest first, with a bounded size. Old records are dropped once their deliveries have
// finished. Unfinished ones move to a separate list, so one slow delivery does not keep every later record in memory.

/// A bounded log. Positions are sequence numbers, which never change.
package struct NotificationLog: Sendable {
  /// Records older than those in `storage` that still had unfinished deliveries when they were moved here, oldest
  /// first. Finished records are removed once they make up half of the list.
  private var waiting: [NotificationLogEntry] = []
  private var settled = 0
  private var storage: [NotificationLogEntry] = []
  /// The number of records at the front of `storage` that were dropped but not yet removed.
  private var dropped = 0
  /// The sequence number of the first kept record in `storage`.
  private var firstSequence: Int64 = 0
  private let capacity: Int
  private var sequences: [CompactUUID: Int64] = [:]

  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// The number of records; at most twice the capacity.
  package var count: Int { waiting.count + newest.count }

  /// The sequence number of the next record.
  package var nextSequence: Int64 { firstSequence + Int64(newest.count) }

  /// The records, oldest first.
  package var records: some BidirectionalCollection<NotificationLogEntry> { [waiting[...], newest].joined() }

  /// Returns the records after a sequence number without scanning those before it.
  func records(after sequence: Int64) -> some Sequence<NotificationLogEntry> {
    // The position of an empty page is before every sequence number.
    let last = min(max(sequence, firstSequence - 1), nextSequence - 1)
    return [waiting[place(behind: sequence)...], newest.dropFirst(Int(last + 1 - firstSequence))].joined()
  }

  /// The record with this sequence number; nil if there is none or it was dropped.
  package subscript(sequence: Int64) -> NotificationLogEntry? {
    if let index = index(of: sequence) { return storage[index] }
    return waitingIndex(of: sequence).map { waiting[$0] }
  }

  /// The record with this UUID; nil if there is none or it was dropped.
  package subscript(uuid: CompactUUID) -> NotificationLogEntry? {
    sequences[uuid].flatMap { self[$0] }
  }

  mutating func append(_ record: NotificationLogEntry) {
    storage.append(record)
    sequences[record.facts.uuid] = record.facts.sequence
    makeRoom()
  }

  /// Changes a record in place. Does nothing if the record was dropped.
  mutating func update(_ sequence: Int64, _ change: (inout NotificationLogEntry) -> Void) {
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

  private mutating func forget(_ isOver: (NotificationLogEntry) -> Bool) {
    for record in waiting where isOver(record) { sequences[record.facts.uuid] = nil }
    waiting.removeAll(where: isOver)
    settled = waiting.count(where: \.isSettled)
  }

  private var newest: ArraySlice<NotificationLogEntry> { storage[dropped...] }

  private func index(of sequence: Int64) -> Int? {
    guard sequence >= firstSequence, sequence < nextSequence else { return nil }
    return dropped + Int(sequence - firstSequence)
  }

  private func waitingIndex(of sequence: Int64) -> Int? {
    let index = place(behind: sequence) - 1
    return waiting.indices.contains(index) && waiting[index].facts.sequence == sequence ? index : nil
  }

  /// The index in `waiting` of the first record after a sequence number.
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
    // If an endpoint never answers, the oldest records are dropped. A quarter goes at once, because each removal moves
    // the whole array.
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
