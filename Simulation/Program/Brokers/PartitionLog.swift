// The log of one partition, as its leader keeps it: records and markers, the state of each producer, and the last stable
// offset.

internal import KafkaClient

/// The producer and its batch in a Produce request.
struct ProducerBatch {
  var producerID: Int64
  var epoch: Int
  var sequence: Int
  var isTransactional: Bool
}

final class PartitionLog {
  private enum Fate { case stored, open, aborted, marker }

  private struct Entry {
    var record: ConsumerRecord?
    var producerID: Int64
    var fate: Fate
  }

  private struct Producer {
    var epoch: Int
    var nextSequence = 0
    /// The last batches, by which the leader recognizes a request that was sent again.
    var recent: [(sequence: Int, count: Int, offset: Int64)] = []
  }

  let partition: TopicPartition
  private(set) var start: Int64 = 0
  private var entries: [Entry] = []
  private var producers: [Int64: Producer] = [:]
  /// The first offset of each open transaction.
  private var open: [Int64: Int64] = [:]
  /// The lowest sequence of each producer that the leader has asked the coordinator about since it stored something of the
  /// producer. It then accepts no higher one.
  private var lowest: [Int64: (epoch: Int, sequence: Int)] = [:]
  private var waiters: [() -> Void] = []

  init(_ partition: TopicPartition) { self.partition = partition }

  var end: Int64 { start + Int64(entries.count) }
  var lastStableOffset: Int64 { open.values.min() ?? end }
  func hasOpenTransaction(of producerID: Int64) -> Bool { open[producerID] != nil }

  /// Appends the records of a Produce request.
  /// - Returns: The offset of the first record. A request that was already applied gets the same answer again.
  func append(_ records: [ConsumerRecord], _ batch: ProducerBatch) throws(BrokerError) -> Int64 {
    // A leader that does not know a producer, for example in a topic that was created again, accepts any sequence.
    var producer = producers[batch.producerID] ?? Producer(epoch: batch.epoch, nextSequence: batch.sequence)
    guard batch.epoch >= producer.epoch else { throw .invalidProducerEpoch }
    if batch.epoch > producer.epoch { producer = Producer(epoch: batch.epoch) }
    if let known = producer.recent.first(where: { $0.sequence == batch.sequence && $0.count == records.count }) {
      return known.offset
    }
    guard batch.sequence == producer.nextSequence, batch.sequence <= lowest[batch.producerID]?.sequence ?? .max else {
      throw .outOfOrderSequence
    }
    lowest[batch.producerID] = nil
    let offset = end
    for record in records {
      var record = record
      record.offset = end
      entries.append(
        Entry(record: record, producerID: batch.producerID, fate: batch.isTransactional ? .open : .stored))
    }
    if batch.isTransactional, open[batch.producerID] == nil { open[batch.producerID] = offset }
    producer.nextSequence += records.count
    producer.recent.append((batch.sequence, records.count, offset))
    if producer.recent.count > 5 { producer.recent.removeFirst() }
    producers[batch.producerID] = producer
    changed()
    return offset
  }

  /// The leader asks the coordinator about a batch, which may be a late copy.
  func asks(about batch: ProducerBatch) {
    let known = lowest[batch.producerID] ?? (batch.epoch, batch.sequence)
    guard batch.epoch >= known.epoch else { return }
    let sequence = batch.epoch > known.epoch ? batch.sequence : min(known.sequence, batch.sequence)
    lowest[batch.producerID] = (batch.epoch, sequence)
  }

  /// Writes the marker that ends a producer's transaction here. A marker of an old epoch has no effect.
  func end(_ producerID: Int64, epoch: Int, isCommit: Bool) {
    if let producer = producers[producerID], producer.epoch > epoch { return }
    if producers[producerID]?.epoch != epoch { producers[producerID] = Producer(epoch: epoch) }
    lowest[producerID] = nil
    if let first = open.removeValue(forKey: producerID) {
      for index in max(0, Int(first - start))..<entries.count
      where entries[index].producerID == producerID && entries[index].fate == .open {
        entries[index].fate = isCommit ? .stored : .aborted
      }
    }
    entries.append(Entry(record: nil, producerID: producerID, fate: .marker))
    changed()
  }

  /// Returns the committed records from `offset` on, and the next offset to read.
  func read(from offset: Int64, limit: Int) -> (records: [ConsumerRecord], next: Int64) {
    var (records, next) = ([ConsumerRecord](), max(offset, start))
    let stable = lastStableOffset
    while next < stable, records.count < limit {
      let entry = entries[Int(next - start)]
      if entry.fate == .stored, let record = entry.record { records.append(record) }
      next += 1
    }
    return (records, next)
  }

  /// The committed records.
  var committed: [ConsumerRecord] { read(from: start, limit: .max).records }

  /// Deletes entries before `offset`, as retention and `delete-records` do.
  func trim(before offset: Int64) {
    let count = Int(max(0, min(offset, end) - start))
    entries.removeFirst(count)
    start += Int64(count)
    changed()
  }

  /// Removes the committed records that have a newer one with the same key, as the log cleaner does. The offsets of the
  /// others stay.
  func compact() {
    var keys: Set<[UInt8]> = []
    let stable = Int(max(0, lastStableOffset - start))
    for index in entries[..<min(stable, entries.count)].indices.reversed() where entries[index].fate == .stored {
      guard let key = entries[index].record?.key else { continue }
      if !keys.insert(key).inserted { entries[index].record = nil }
    }
  }

  /// Calls `body` at the next change.
  func onChange(_ body: @escaping () -> Void) { waiters.append(body) }

  private func changed() {
    let waiting = waiters
    waiters = []
    for body in waiting { body() }
  }
}
