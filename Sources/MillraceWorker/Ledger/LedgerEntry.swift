// The entries of a ledger, in the form in which the ledger topic has them.

internal import KafkaClient
internal import MillraceCore

/// One change of a ledger, which is also the content of one ledger record.
struct LedgerEntry: Sendable, Hashable {
  /// The kind and the name of an entry, which are the key of its record.
  struct Name: Sendable, Hashable {
    let kind: LedgerKind
    let key: [UInt8]

    init(_ kind: LedgerKind, _ name: some Collection<UInt8>) { (self.kind, key) = (kind, [kind.rawValue] + name) }

    /// The name of a notification, tail or erasure.
    init(_ kind: LedgerKind, _ digest: LedgerKey) {
      var bytes = ByteWriter(kind.rawValue)
      digest.write(to: &bytes)
      (self.kind, key) = (kind, bytes.bytes)
    }

    /// Reads the key of a record.
    init(_ key: [UInt8]) throws(LedgerRecordError) {
      guard let kind = key.first.flatMap({ LedgerKind(rawValue: $0) }) else { throw .unknownKind(key.first) }
      (self.kind, self.key) = (kind, key)
      guard kind.nameBytes.map({ $0 == key.count - 1 }) ?? isText else { throw .malformed }
    }

    /// The name without the kind.
    var bytes: ArraySlice<UInt8> { key.dropFirst() }
    /// The name of an effect, timer, counter or state.
    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The name of a notification, tail or erasure.
    var digest: LedgerKey { LedgerKey(prefixOf: bytes) }

    // Names are ASCII as a rule, and need no string.
    private var isText: Bool {
      key.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    static func == (left: Self, right: Self) -> Bool { left.key == right.key }
    func hash(into hasher: inout Hasher) { key.withUnsafeBytes { hasher.combine(bytes: $0) } }
  }

  let name: Name
  /// The version of the layout and the fields; nil removes the entry.
  let value: [UInt8]?

  init<Value: LedgerValue>(_ name: Name, _ value: Value?) {
    self.name = name
    self.value = value.map { value in
      var bytes = ByteWriter(Value.version, name: name.bytes)
      value.write(to: &bytes)
      return bytes.bytes
    }
  }

  /// Removes an entry.
  init(removing name: Name) { (self.name, value) = (name, nil) }

  /// Reads a record of the ledger topic.
  init(key: [UInt8], value: [UInt8]?) throws(LedgerRecordError) {
    name = try Name(key)
    self.value = value
    guard let value else { return }
    let values = name.kind.values
    guard let version = value.first else { throw .malformed }
    guard version == values.version else { throw .unknownVersion(version) }
    var bytes = ByteReader(value.dropFirst(), name: name.bytes)
    try values.check(&bytes)
  }

  /// Reads a record of the ledger topic.
  /// - Throws: ``MillraceError`` with the record's position.
  init(_ record: ConsumerRecord) throws(MillraceError) {
    do { try self.init(key: record.key ?? [], value: record.value) } catch {
      throw MillraceError(
        .record, "\(error)", at: "\(record.topic)[\(record.partition)]@\(record.offset)",
        remedy: "until then the lane does not start, because it would repeat handled notifications")
    }
  }

  /// Returns the record that makes the change.
  func record(topic: String, lane: Int32) -> ProducerRecord {
    ProducerRecord(topic: topic, partition: lane, key: name.key, value: value)
  }

  /// The value without its version, as the tables of a ledger have it.
  var fields: ArraySlice<UInt8>? { value?.dropFirst() }

  /// Returns the value; nil if the entry is of another kind, or is a removal.
  func content<Value: LedgerValue>(as type: Value.Type = Value.self) -> Value? {
    name.kind.values == type ? fields.flatMap { Value.stored($0, name) } : nil
  }

  /// The record key that the entry belongs to, if any.
  var recordKey: ArraySlice<UInt8>? { fields.flatMap { name.recordKey(in: $0) } }
}

extension LedgerValue {
  /// Reads the fields of an entry.
  static func stored(_ fields: ArraySlice<UInt8>, _ name: LedgerEntry.Name) -> Self? {
    ByteReader.checked(fields, name: name.bytes) { try Self(&$0) }
  }
}

extension LedgerEntry.Name {
  /// Returns the record key that the fields of this entry belong to, if any.
  func recordKey(in fields: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let values = kind.keyedValues, let key = ByteReader.checked(fields, { try values.key(&$0) }) else {
      return nil
    }
    return key ?? bytes
  }

  static func handled(_ id: LedgerKey) -> Self { Self(.handled, id) }
  static func effect(_ name: String) -> Self { Self(.effect, name.utf8) }
  static func timer(_ name: String) -> Self { Self(.timer, name.utf8) }
  static func counter(_ name: String) -> Self { Self(.counter, name.utf8) }
  static func tail(_ key: LedgerKey) -> Self { Self(.tail, key) }
  static func state(_ name: String) -> Self { Self(.state, name.utf8) }
  static func page(_ id: LedgerPage.ID) -> Self { Self(.page, id.bytes) }
  static func erasure(_ mark: LedgerKey) -> Self { Self(.erasure, mark) }
}

extension LedgerEntry {
  static func handled(_ id: LedgerKey, _ handled: Handled?) -> Self { Self(.handled(id), handled) }
  static func effect(_ name: String, _ effect: Effect?) -> Self { Self(.effect(name), effect) }
  static func timer(_ name: String, _ timer: LaneTimer?) -> Self { Self(.timer(name), timer) }
  static func counter(_ name: String, _ count: Int64?) -> Self { Self(.counter(name), count) }
  static func tail(_ key: LedgerKey, _ last: LedgerKey?) -> Self { Self(.tail(key), last) }
  static func state(_ name: String, _ state: StoredState?) -> Self { Self(.state(name), state) }
  static func page(_ id: LedgerPage.ID, _ page: LedgerPage?) -> Self { Self(.page(id), page) }
  static func owner(_ instance: String?) -> Self { Self(Name(.owner, []), instance) }
  static func erasure(_ mark: LedgerKey, _ erasure: Erasure?) -> Self { Self(.erasure(mark), erasure) }

  /// Returns the entries of one commit without superseded counter values, so that a counter that every record changes
  /// is written once. The last value takes the place of the first, before the ends of all records that it counts.
  static func withoutPassedCounts(_ entries: [LedgerEntry]) -> [LedgerEntry] {
    var last: [Name: LedgerEntry] = [:]
    for entry in entries where entry.name.kind == .counter { last[entry.name] = entry }
    // Most commits contain no counters.
    guard !last.isEmpty else { return entries }
    return entries.compactMap { $0.name.kind == .counter ? last.removeValue(forKey: $0.name) : $0 }
  }
}

extension [LedgerEntry] {
  /// Adds entries, without a copy if there are none yet.
  mutating func add(_ more: [LedgerEntry]) { if isEmpty { self = more } else { self += more } }
}

/// A ledger record that this version cannot read. The lane must not start, because it would repeat handled
/// notifications that it does not know.
enum LedgerRecordError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind is unknown. A newer version wrote the record, or a program other than a worker.
  case unknownKind(UInt8?)
  /// The layout has another version.
  case unknownVersion(UInt8)
  /// The bytes end too early or contain an invalid value.
  case malformed

  var description: String {
    switch self {
    case .unknownKind(let kind):
      "ledger record of unknown kind \(kind.map { String($0) } ?? "(empty key)"); run the version that wrote it"
    case .unknownVersion(let version): "ledger record has unsupported version \(version); run the version that wrote it"
    case .malformed: "ledger record is malformed; find the other program that writes to this ledger topic"
    }
  }
}
