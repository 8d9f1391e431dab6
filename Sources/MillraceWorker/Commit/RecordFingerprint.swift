// The fingerprints of records that a lane has read, by which it recognizes their topic. A topic that was deleted and
// created again has other records at the same offsets.

package import KafkaClient

/// A record's position, time and content, in a form that fits in the metadata of a committed offset.
package struct RecordFingerprint: Sendable, Hashable {
  /// The record's offset.
  package var offset: Int64
  /// The record's timestamp in milliseconds since 1970; -1 if it has none.
  var time: Int64
  /// A part of the digest of its `ce_id`, or of key and value if it has no `ce_id`.
  var digest: UInt64

  init(offset: Int64, time: Int64, digest: UInt64) {
    (self.offset, self.time, self.digest) = (offset, time, digest)
  }

  init(_ item: LaneItem) {
    let record = item.record
    self.init(
      offset: record.offset, time: record.timestamp ?? -1,
      // A record without an id is identified by its position, which every topic has.
      digest: item.envelope.id == nil ? Self.digest(of: record) : item.ledgerID.low)
  }

  package init(_ record: ConsumerRecord) { self.init(LaneItem(record, source: .live)) }

  private static func digest(of record: ConsumerRecord) -> UInt64 {
    let key = record.key ?? []
    return LedgerKey(hashing: Array("\(key.count)/\(record.value == nil)/".utf8) + key + (record.value ?? [])).low
  }

  /// Reads ``text``.
  init?(_ text: Substring) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let offset = Int64(parts[0]), offset >= 0, let time = Int64(parts[1]),
      let digest = UInt64(parts[2], radix: 16)
    else { return nil }
    self.init(offset: offset, time: time, digest: digest)
  }

  /// `offset:time:digest`, at most 57 bytes.
  var text: String { "\(offset):\(time):\(String(digest, radix: 16))" }
}

/// The fingerprints of the records that a lane has read from one source, from the newest one before the committed
/// offset on.
struct FingerprintTrail: Sendable, Hashable {
  private var prints: [RecordFingerprint] = []
  private var head = 0

  /// A record of the topic that was read before the topic was last recognized. The newest record may be one of a topic
  /// that has been created again since.
  private(set) var anchor: RecordFingerprint?

  /// - Parameter last: The record before the committed offset, if the topic was recognized by it.
  init(_ last: RecordFingerprint? = nil) {
    anchor = last
    if let last { prints = [last] }
  }

  /// The number of fingerprints in memory.
  var count: Int { prints.count }

  /// The newest record that was read.
  var newest: RecordFingerprint? { prints.last }

  /// Adds a record that was read. Offsets rise.
  mutating func append(_ print: RecordFingerprint) {
    prints.append(print)
    anchor = anchor ?? print
  }

  /// The topic was recognized after this record had been read.
  mutating func recognized(after print: RecordFingerprint) { anchor = print }

  /// Returns the records by which the next owner recognizes the topic of a committed offset.
  func mark(before offset: Int64) -> (last: RecordFingerprint?, anchor: RecordFingerprint?) {
    let last = newest(before: offset)
    guard let anchor, let last, anchor.offset < last.offset else { return (last, nil) }
    return (last, anchor)
  }

  private func newest(before offset: Int64) -> RecordFingerprint? {
    var (low, high) = (head, prints.count)
    while low < high {
      let middle = (low + high) / 2
      if prints[middle].offset < offset { low = middle + 1 } else { high = middle }
    }
    return low > head ? prints[low - 1] : nil
  }

  /// Removes the records before the newest one before `offset`, which has been committed.
  mutating func committed(_ offset: Int64) {
    while head + 1 < prints.count, prints[head + 1].offset < offset { head += 1 }
    // The array is not moved for every commit.
    guard head > 64, head > prints.count / 2 else { return }
    prints.removeFirst(head)
    head = 0
  }
}
