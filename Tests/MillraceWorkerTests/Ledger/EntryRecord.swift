// The record of a ledger entry, which a test may damage, and shorthands for entries.

@testable import MillraceWorker

/// The key and the value of a record of the ledger topic.
struct EntryRecord: Hashable {
  var key: [UInt8]
  var value: [UInt8]?

  init(_ entry: LedgerEntry) { (key, value) = (entry.name.key, entry.value) }

  init(key: [UInt8], value: [UInt8]?) { (self.key, self.value) = (key, value) }

  func entry() throws(LedgerRecordError) -> LedgerEntry { try LedgerEntry(key: key, value: value) }

  /// Applies the record to a ledger, as a lane that starts does.
  func restore(to ledger: inout Ledger) throws(LedgerRecordError) { ledger.restore(try entry()) }
}

extension LedgerEntry {
  /// Stores a state that belongs to a record key.
  static func keeping(_ name: String, _ value: [UInt8], of key: [UInt8]) -> LedgerEntry {
    .state(name, StoredState(value, key: key))
  }

  /// The notification and its state, if the entry is one of a notification.
  var notification: (id: LedgerKey, state: Handled?)? { name.kind == .handled ? (name.digest, content()) : nil }

  /// The counter and its value, if the entry is one of a counter.
  var counter: (name: String, count: Int64?)? { name.kind == .counter ? (name.text, content()) : nil }
}

extension Ledger {
  /// Moves a staged entry to the layer that is in Kafka.
  mutating func settle(_ entry: LedgerEntry) {
    unstage([entry])
    restore(entry)
  }

  /// The record key that a state belongs to; nil if there is no such state.
  func keyOfState(_ name: String) -> [UInt8]? {
    let name = LedgerEntry.Name.state(name)
    return fields(name).flatMap { name.recordKey(in: $0) }.map { Array($0) }
  }
}
