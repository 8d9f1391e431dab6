// The identity of a ledger. The offsets that a lane commits repeat it, so a lane notices that its ledger is another one,
// or empty. And the sources that the ledger's lane has had.

internal import KafkaClient

/// A random number that a lane writes to its ledger once, and the offset of that record.
struct LedgerIdentity: Sendable, Hashable {
  var number: UInt64
  var offset: Int64

  // Counters, because earlier versions read and keep counters, and a new kind of entry would stop them.
  static let reserved = "millrace/"
  private static let prefix = reserved + "ledger/"

  init(number: UInt64, offset: Int64) { (self.number, self.offset) = (number, offset) }

  /// Returns nil if a record of the ledger topic is not an identity.
  init?(_ record: ConsumerRecord) {
    guard record.value != nil, let key = record.key, key.first == UInt8(ascii: "c"),
      let name = String(validating: key.dropFirst(), as: UTF8.self), let number = Self.number(in: name)
    else { return nil }
    self.init(number: number, offset: record.offset)
  }

  /// The entry that stores the identity. Each has a name of its own. So if two owners write one at the same time, the
  /// ledger keeps both, and the offsets of either owner match it.
  static func entry(_ number: UInt64) -> LedgerEntry { .counter(prefix + String(number, radix: 16), 1) }

  /// Whether a counter is one of the ledger's own, and not of a handler.
  static func isReserved(_ counter: String) -> Bool { counter.hasPrefix(reserved) }

  /// The counter that is set if the lane has had a source.
  static func counter(ofSource topic: String) -> String { "\(reserved)source/\(topic)" }

  /// Returns the identity that a counter stores, or nil for every other counter.
  static func number(in counter: String) -> UInt64? {
    counter.hasPrefix(prefix) ? UInt64(counter.dropFirst(prefix.utf8.count), radix: 16) : nil
  }
}
