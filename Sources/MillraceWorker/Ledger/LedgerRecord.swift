// The encoding of ledger entries as records of the ledger topic. Every later version has to read this format: kinds and
// fields are only added, and a changed layout gets a new version byte.
//
// Key: one kind byte, then 16 bytes of digest (`h`, `k`, `x`), a name in UTF-8 (`e`, `t`, `c`, `s`), 8 bytes (`p`) or nothing
// (`o`). Value: one version byte, then fixed fields, most significant byte first; a tombstone removes. A timer that has
// failed has headers besides (``TimerFailures``).

internal import AppStore

/// A record of the ledger topic.
struct LedgerRecord: Sendable, Hashable {
  var key: [UInt8]
  /// Nil is a tombstone.
  var value: [UInt8]?
  /// The failed runs of a timer, which are in headers.
  var failures: TimerFailures?

  init(key: [UInt8], value: [UInt8]?, failures: TimerFailures? = nil) {
    self.key = key
    self.value = value
    self.failures = failures
  }

  private static let version: UInt8 = 1

  private enum Kind: UInt8 {
    case handled = 0x68  // h
    case effect = 0x65  // e
    case timer = 0x74  // t
    case counter = 0x63  // c
    case tail = 0x6B  // k
    case state = 0x73  // s
    case page = 0x70  // p
    case owner = 0x6F  // o
    case erasure = 0x78  // x
  }

  private enum Code {
    static let done: UInt8 = 1
    static let delayed: UInt8 = 2
    static let dead: UInt8 = 3
    static let intended: UInt8 = 1
    static let ended: UInt8 = 2
  }
}

extension LedgerRecord {
  /// A kind whose stored value is used as it is.
  enum KindInPlace { case state, timer }

  /// The kind, if the record is not a tombstone and has this version's layout.
  var kindInPlace: KindInPlace? {
    guard value?.first == Self.version, failures == nil else { return nil }
    switch key.first {
    case Kind.state.rawValue: return .state
    case Kind.timer.rawValue: return .timer
    default: return nil
    }
  }

  /// Encodes an entry.
  init(_ entry: LedgerEntry) {
    switch entry {
    case .handled(let id, let handled):
      self.init(.handled, id.bytes, handled.map(Self.value))
    case .effect(let name, let effect):
      self.init(.effect, Array(name.utf8), effect.map(Self.value))
    case .timer(let name, let timer):
      self.init(.timer, Array(name.utf8), timer.map(Self.value))
      failures = timer?.failures
    case .counter(let name, let count):
      var value = ByteWriter(Self.version)
      value.put(count ?? 0)
      self.init(.counter, Array(name.utf8), count == nil ? nil : value.bytes)
    case .tail(let key, let last):
      self.init(.tail, key.bytes, last.map { [Self.version] + $0.bytes })
    case .state(let name, let value):
      self.init(.state, Array(name.utf8), value.map { [Self.version] + $0.bytes })
    case .page(let id, let page):
      var name = ByteWriter(Kind.page.rawValue)
      name.put(id.value)
      self.init(key: name.bytes, value: page.map(Self.value))
    case .owner(let instance):
      self.init(.owner, [], instance.map { [Self.version] + $0.utf8 })
    case .erasure(let mark, let erasure):
      self.init(.erasure, mark.bytes, erasure.map(Self.value))
    }
  }

  private init(_ kind: Kind, _ name: [UInt8], _ value: [UInt8]?) {
    self.init(key: [kind.rawValue] + name, value: value)
  }

  private static func value(_ handled: Handled) -> [UInt8] {
    var value = ByteWriter(version)
    switch handled.state {
    case .done(let digest):
      value.put(Code.done)
      value.put(handled.minute)
      value.put(digest)
    case .delayed(let attempt, let delayIndex):
      value.put(Code.delayed)
      value.put(handled.minute)
      value.put(UInt16(clamping: attempt))
      value.put(Handled.code(ofDelayIndex: delayIndex))
    case .dead:
      value.put(Code.dead)
      value.put(handled.minute)
    }
    return value.bytes
  }

  private static func value(_ effect: Effect) -> [UInt8] {
    let (code, content) =
      switch effect.progress {
      case .intended(let body): (Code.intended, body)
      case .ended(let result): (Code.ended, result)
      }
    var value = ByteWriter(version)
    value.put(code)
    value.put(effect.intendedAt.millisecondsSince1970)
    value.put(UInt32(clamping: effect.key.count))
    value.put(contentsOf: effect.key)
    value.put(contentsOf: content)
    return value.bytes
  }

  private static func value(_ erasure: Erasure) -> [UInt8] {
    var value = ByteWriter(version)
    value.put(erasure.at.millisecondsSince1970)
    value.put(erasure.fingerprint)
    return value.bytes
  }

  private static func value(_ page: LedgerPage) -> [UInt8] {
    var value = ByteWriter(version)
    for line in page.lines {
      value.put(line.id.high)
      value.put(line.id.low)
      value.put(line.minute)
      value.put(line.digest)
    }
    return value.bytes
  }

  private static func value(_ timer: LaneTimer) -> [UInt8] {
    var value = ByteWriter(version)
    value.put(timer.at.millisecondsSince1970)
    value.put(UInt32(clamping: timer.key.count))
    value.put(contentsOf: timer.key)
    value.put(contentsOf: timer.payload)
    return value.bytes
  }
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

extension LedgerRecord {
  /// Decodes the record.
  func entry() throws(LedgerRecordError) -> LedgerEntry {
    guard let kind = key.first.flatMap({ Kind(rawValue: $0) }) else { throw .unknownKind(key.first) }
    switch kind {
    case .handled: return .handled(try id(), try read(Self.handled))
    case .timer:
      var timer = try read(Self.timer)
      timer?.failures = failures
      return .timer(try name(), timer)
    case .counter: return .counter(try name(), try read { (bytes) throws(LedgerRecordError) in try bytes.integer() })
    case .state: return .state(try name(), try read(Self.state))
    case .tail:
      return .tail(
        try id(),
        try read { (bytes) throws(LedgerRecordError) in
          LedgerKey(high: try bytes.integer(), low: try bytes.integer())
        })
    case .page:
      var bytes = ByteReader(Array(key.dropFirst()))
      return .page(LedgerPage.ID(value: try bytes.integer()), try read(Self.page))
    case .effect: return .effect(try name(), try read(Self.effect))
    case .owner:
      return .owner(
        try read { (bytes) throws(LedgerRecordError) in
          guard let instance = String(validating: bytes.rest(), as: UTF8.self) else { throw .malformed }
          return instance
        })
    case .erasure:
      return .erasure(
        try id(),
        try read { (bytes) throws(LedgerRecordError) in
          Erasure(at: Timestamp(millisecondsSince1970: try bytes.integer()), fingerprint: try bytes.integer())
        })
    }
  }

  private func id() throws(LedgerRecordError) -> LedgerKey {
    guard key.count == 1 + LedgerKey.byteCount else { throw .malformed }
    return key.withUnsafeBytes { bytes in
      LedgerKey(
        high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self)),
        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt64.self)))
    }
  }

  private func name() throws(LedgerRecordError) -> String {
    guard let name = String(validating: key.dropFirst(), as: UTF8.self) else { throw .malformed }
    return name
  }

  /// Decodes the value. Nil for a tombstone. Extra fields that a later version added at the end are ignored.
  private func read<Value>(
    _ fields: (inout ByteReader) throws(LedgerRecordError) -> Value
  ) throws(LedgerRecordError) -> Value? {
    guard let value else { return nil }
    var bytes = ByteReader(value)
    let version: UInt8 = try bytes.integer()
    guard version == Self.version else { throw .unknownVersion(version) }
    return try fields(&bytes)
  }

  private static func handled(_ bytes: inout ByteReader) throws(LedgerRecordError) -> Handled {
    let code: UInt8 = try bytes.integer()
    let minute: UInt32 = try bytes.integer()
    switch code {
    case Code.done: return Handled(.done(digest: try bytes.integer()), minute: minute)
    case Code.delayed:
      let attempt: UInt16 = try bytes.integer()
      let delayIndex: UInt16 = try bytes.integer()
      return Handled(
        .delayed(attempt: Int(attempt), delayIndex: Handled.delayIndex(ofCode: delayIndex)), minute: minute)
    case Code.dead: return Handled(.dead, minute: minute)
    default: throw .malformed
    }
  }

  private static func page(_ bytes: inout ByteReader) throws(LedgerRecordError) -> LedgerPage {
    var page = LedgerPage(lines: [])
    page.lines.reserveCapacity(bytes.count / 24)
    while bytes.count > 0 {
      let id = LedgerKey(high: try bytes.integer(), low: try bytes.integer())
      let minute: UInt32 = try bytes.integer()
      page.lines.append(LedgerPage.Line(id: id, digest: try bytes.integer(), minute: minute))
    }
    return page
  }

  private static func effect(_ bytes: inout ByteReader) throws(LedgerRecordError) -> Effect {
    let code: UInt8 = try bytes.integer()
    let intendedAt = Timestamp(millisecondsSince1970: try bytes.integer())
    let count: UInt32 = try bytes.integer()
    let key = try bytes.take(Int(count))
    switch code {
    case Code.intended: return Effect(key: key, intendedAt: intendedAt, progress: .intended(body: bytes.rest()))
    case Code.ended: return Effect(key: key, intendedAt: intendedAt, progress: .ended(result: bytes.rest()))
    default: throw .malformed
    }
  }

  private static func state(_ bytes: inout ByteReader) throws(LedgerRecordError) -> StoredState {
    try StoredState(bytes: bytes.rest())
  }

  private static func timer(_ bytes: inout ByteReader) throws(LedgerRecordError) -> LaneTimer {
    let at = Timestamp(millisecondsSince1970: try bytes.integer())
    let count: UInt32 = try bytes.integer()
    return LaneTimer(at: at, key: try bytes.take(Int(count)), payload: bytes.rest())
  }
}
