// The metadata of a committed offset: how its next reader recognizes the topic and the ledger that the offset belongs
// to, and the crash mark of a lane that has not ended.

internal import KafkaClient

/// Commit metadata: `4;<offset>:<time>:<digest>,<offset>:<time>:<digest>;<identity>:<end>`. Each of the parts can be
/// absent. In a lane that runs, the fields of a ``PoisonMark`` follow.
///
/// The tools of Kafka that set offsets write no metadata. So an operator who sets an offset also ends the comparison.
struct OffsetMark: Sendable, Hashable {
  /// The last record before the offset.
  var last: RecordFingerprint?
  /// An earlier record, if the topic has not been recognized since the last one was read.
  var anchor: RecordFingerprint?
  /// The ledger that the lane had when it committed.
  var ledger: LedgerMark?

  init(last: RecordFingerprint? = nil, anchor: RecordFingerprint? = nil, ledger: LedgerMark? = nil) {
    (self.last, self.anchor, self.ledger) = (last, anchor, ledger)
  }

  /// Reads metadata. All parts are nil if an operator, another program or an earlier version wrote it.
  init(_ metadata: String) {
    let parts = metadata.split(separator: ";", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0] == Self.version else { return }
    let records = parts[1].split(separator: ",").map { RecordFingerprint($0) }
    if let first = records.first { last = first }
    if records.count == 2 { anchor = records[1] }
    ledger = LedgerMark(parts[2])
  }

  static let version = "4"
  /// The number of fields that precede a ``PoisonMark``.
  static let fields = 3

  /// The mark of a lane that has ended cleanly.
  var text: String {
    let records = [last, anchor].compactMap { $0?.text }.joined(separator: ",")
    return "\(Self.version);\(records);\(ledger?.text ?? "")"
  }
}

/// The ledger of a lane, as the lane's offsets remember it.
struct LedgerMark: Sendable, Hashable {
  /// The ledger's random identity (``Ledger/identities``).
  var identity: UInt64
  /// The offset up to which the ledger's topic has been read or written at least.
  var end: Int64

  init(identity: UInt64, end: Int64) { (self.identity, self.end) = (identity, end) }

  init?(_ text: Substring) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let identity = UInt64(parts[0], radix: 16), let end = Int64(parts[1]), end >= 0 else {
      return nil
    }
    self.init(identity: identity, end: end)
  }

  /// `identity:end`, at most 36 bytes.
  var text: String { "\(String(identity, radix: 16)):\(end)" }
}
