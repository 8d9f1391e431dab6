// One partition: records and transaction markers at successive offsets, and the part that a `read_committed` reader
// sees.

internal import KafkaClient

/// The serial number of a transaction of any producer. Numbers start at 1.
typealias TransactionSerial = UInt64

struct PartitionStore: Sendable {
  private struct Entry: Sendable {
    /// The record; nil for a marker, which takes an offset as in Kafka.
    var record: ConsumerRecord?
    var transaction: TransactionSerial?
  }

  /// The offset of the oldest entry.
  private(set) var start: Int64 = 0
  private var entries: [Entry] = []
  /// The first offset of each open transaction in this partition.
  private var open: [TransactionSerial: Int64] = [:]
  private var aborted: Set<TransactionSerial> = []

  /// The high watermark, which is the offset after the newest entry.
  var end: Int64 { start + Int64(entries.count) }
  /// The offset of the first record in an open transaction, or the end. A reader gets no further.
  var lastStableOffset: Int64 { open.values.min() ?? end }

  /// - Parameter record: The record. Its offset is set here.
  mutating func append(_ record: ConsumerRecord, in transaction: TransactionSerial?) -> Int64 {
    let offset = end
    var record = record
    record.offset = offset
    entries.append(Entry(record: record, transaction: transaction))
    if let transaction, open[transaction] == nil { open[transaction] = offset }
    return offset
  }

  /// Writes the marker that ends a transaction in this partition.
  mutating func end(_ transaction: TransactionSerial, isCommitted: Bool) {
    open[transaction] = nil
    if !isCommitted { aborted.insert(transaction) }
    entries.append(Entry(record: nil, transaction: transaction))
  }

  /// Returns committed records from `offset` on, and the next offset to read; `limit` must be at least 1.
  func read(from offset: Int64, limit: Int) -> (records: [ConsumerRecord], next: Int64) {
    var records: [ConsumerRecord] = []
    var next = max(offset, start)
    let stable = lastStableOffset
    while next < stable, records.count < limit {
      if let entry = entry(at: next), let record = entry.record, !isAborted(entry) { records.append(record) }
      next += 1
    }
    return (records, max(next, offset))
  }

  /// The offset after the newest committed record that a reader can see.
  var readableEnd: Int64 {
    var offset = lastStableOffset
    while offset > start {
      if let entry = entry(at: offset - 1), entry.record != nil, !isAborted(entry) { return offset }
      offset -= 1
    }
    return start
  }

  /// All stored records, including uncommitted and aborted ones.
  var everything: [ConsumerRecord] { entries.compactMap(\.record) }

  /// Returns the offset of the first record with this timestamp or a later one.
  func offset(since time: Int64) -> Int64? {
    entries.lazy.compactMap(\.record).first { ($0.timestamp ?? 0) >= time }?.offset
  }

  /// Deletes entries before `offset`, as retention does.
  mutating func trim(before offset: Int64) {
    let count = Int(max(0, min(offset, end) - start))
    entries.removeFirst(count)
    start += Int64(count)
  }

  /// Deletes entries from `offset` on, as an unclean election of a leader does.
  mutating func truncate(to offset: Int64) {
    entries.removeLast(Int(max(0, end - max(offset, start))))
    open = open.filter { $0.value < end }
  }

  private func entry(at offset: Int64) -> Entry? {
    let index = Int(offset - start)
    return entries.indices.contains(index) ? entries[index] : nil
  }

  private func isAborted(_ entry: Entry) -> Bool { entry.transaction.map { aborted.contains($0) } ?? false }
}
