// The kinds of ledger entries. A kind says here what its names and values are; everything else about an entry, such as its
// record, staging and table, is the same for all kinds.
//
// The key of a record is the kind in one byte, then the name. The value is the version of its layout in one byte, then
// fields; a tombstone removes the entry. Later versions have to read this format: kinds and fields are only added, and a
// changed layout of a value gets another version.

/// The kind of a ledger entry. The raw value is the first byte of the key of its record.
enum LedgerKind: UInt8, Sendable, CaseIterable {
  /// A notification, by id.
  case handled = 0x68  // h
  /// An effect, by name. Only an effect that certainly did not happen is removed.
  case effect = 0x65  // e
  /// A timer, by name.
  case timer = 0x74  // t
  /// A counter of this lane, by name. Readers sum the lanes.
  case counter = 0x63  // c
  /// The last waiting notification of a record key, for strict ordering.
  case tail = 0x6B  // k
  /// A state that a handler stored, by name.
  case state = 0x73  // s
  /// Notifications that were done in one commit; see ``LedgerPage``.
  case page = 0x70  // p
  /// The instance that last took over the lane. It says nothing about notifications. Its record ends the restore, because
  /// all records of earlier owners precede it.
  case owner = 0x6F  // o
  /// An erased customer, by mark.
  case erasure = 0x78  // x

  /// The type of the values.
  var values: any LedgerValue.Type {
    switch self {
    case .handled: Handled.self
    case .effect: Effect.self
    case .timer: LaneTimer.self
    case .counter: Int64.self
    case .tail: LedgerKey.self
    case .state: StoredState.self
    case .page: LedgerPage.self
    case .owner: String.self
    case .erasure: Erasure.self
    }
  }

  /// The type of the values, if they belong to record keys.
  var keyedValues: (any KeyedValue.Type)? { values as? any KeyedValue.Type }

  /// The number of bytes of a name; nil for text in UTF-8.
  var nameBytes: Int? {
    switch self {
    case .handled, .tail, .erasure: LedgerKey.byteCount
    case .page: 8
    case .owner: 0
    case .effect, .timer, .counter, .state: nil
    }
  }
}

/// The value of a ledger entry: fixed fields after a version byte.
protocol LedgerValue: Sendable, Hashable {
  /// The version of the layout.
  static var version: UInt8 { get }
  /// Reads the fields. Extra fields that a later version added at the end are ignored.
  init(_ bytes: inout ByteReader) throws(LedgerRecordError)
  /// Writes the fields.
  func write(to bytes: inout ByteWriter)
  /// Throws the error of ``init(_:)``, but makes no value.
  static func check(_ bytes: inout ByteReader) throws(LedgerRecordError)
}

extension LedgerValue {
  static var version: UInt8 { 1 }
  static func check(_ bytes: inout ByteReader) throws(LedgerRecordError) { _ = try Self(&bytes) }
}

/// A value that belongs to the record key of a notification, so that everything about a customer can be found.
protocol KeyedValue: LedgerValue {
  /// Reads the record key; nil if it is the name of the entry.
  static func key(_ bytes: inout ByteReader) throws(LedgerRecordError) -> ArraySlice<UInt8>?
}
