// The notifications of one realm in the order they happened, oldest first, bounded: what is settled makes room.

/// A bounded log. Positions are sequence numbers, which never change.
public struct NotificationLog: Sendable {
  private var storage: [NotificationRecord] = []
  /// Records at the front of `storage` that were dropped and not yet removed.
  private var dropped = 0
  /// The sequence number of the first record that is kept.
  public private(set) var firstSequence: Int64 = 0
  private let capacity: Int
  private var sequences: [CompactUUID: Int64] = [:]

  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// How many are kept.
  public var count: Int { storage.count - dropped }

  /// The sequence number of the next record.
  public var nextSequence: Int64 { firstSequence + Int64(count) }

  /// The kept records, oldest first.
  public var records: ArraySlice<NotificationRecord> { storage[dropped...] }

  /// The record of that number; nil when there is none, or not any more.
  public subscript(sequence: Int64) -> NotificationRecord? {
    index(of: sequence).map { storage[$0] }
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
    guard let index = index(of: sequence) else { return }
    change(&storage[index])
    makeRoom()
  }

  private func index(of sequence: Int64) -> Int? {
    guard sequence >= firstSequence, sequence < nextSequence else { return nil }
    return dropped + Int(sequence - firstSequence)
  }

  private mutating func makeRoom() {
    while count > capacity, storage[dropped].isSettled {
      sequences[storage[dropped].facts.uuid] = nil
      dropped += 1
      firstSequence += 1
    }
    // Removing from the front costs the whole array, so it is done once for as many as stay.
    if dropped > max(1_024, capacity / 4) {
      storage.removeFirst(dropped)
      dropped = 0
    }
  }
}
