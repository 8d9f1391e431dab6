// The record of a ledger entry, which a test may damage, and shorthands for entries.

@testable import MillraceWorker

/// The key and the value of a record of the ledger topic.
struct EntryRecord: Hashable {
  private var record: LedgerRecord

  init(_ entry: LedgerEntry) { record = LedgerRecord(entry) }

  init(key: [UInt8], value: [UInt8]?) { record = LedgerRecord(key: key, value: value) }

  var key: [UInt8] {
    get { record.key }
    set { record.key = newValue }
  }

  var value: [UInt8]? {
    get { record.value }
    set { record.value = newValue }
  }

  func entry() throws(LedgerRecordError) -> LedgerEntry { try record.entry() }

  /// Applies the record to a ledger, as a lane that starts does.
  func restore(to ledger: inout Ledger) throws(LedgerRecordError) { try ledger.restore(record) }
}

extension LedgerEntry {
  /// Stores a state that belongs to a record key.
  static func keeping(_ name: String, _ value: [UInt8], of key: [UInt8]) -> LedgerEntry {
    .state(name, StoredState(value, name: name, key: key))
  }

  /// The notification and its state, if the entry is one of a notification.
  var notification: (id: LedgerKey, state: Handled?)? {
    if case .handled(let id, let handled) = self { (id, handled) } else { nil }
  }

  /// The counter and its value, if the entry is one of a counter.
  var counter: (name: String, count: Int64?)? {
    if case .counter(let name, let count) = self { (name, count) } else { nil }
  }
}

extension Ledger {
  /// The record key that a state belongs to; nil if there is no such state.
  func keyOfState(_ name: String) -> [UInt8]? { storedState(name).map { $0.key ?? Array(name.utf8) } }
}
