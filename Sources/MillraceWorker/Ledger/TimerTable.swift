// The timers of a lane that are in Kafka. There may be millions, most of them due in weeks, so they have no heap: each
// segment of the table keeps a lower bound of its due times, and is searched when that time comes.

internal import AppStore
internal import DequeModule

/// Timers by name, and which of them are due.
struct TimerTable: Sendable {
  private var table = CompactTable()
  /// For each segment, a time before which none of its timers has to be taken.
  private var earliest = [Timestamp](repeating: Self.never, count: CompactTable.segmentCount)
  /// Due timers that a search found and that were not taken yet, in the order of their times.
  private var found = Deque<(name: String, at: Timestamp)>()
  /// The timers that were found, taken or postponed.
  private var held: [String: Hold] = [:]
  /// The timers whose handler has failed since they were set.
  private var failing: Set<String> = []

  private enum Hold: Sendable, Equatable {
    case found
    case taken
    case postponed(until: Timestamp)
  }

  private static let never = Timestamp(millisecondsSince1970: .max)

  var isEmpty: Bool { table.count == 0 }
  var count: Int { table.count }
  /// The number of timers whose handler has failed since they were set.
  var failingCount: Int { failing.count }
  /// The size of the table, used and free, in bytes.
  var bytes: Int { table.bytes }

  /// A time before which no timer has to be taken; nil if there is none to wait for.
  var nextDue: Timestamp? {
    let next = min(found.first?.at ?? Self.never, earliest.min() ?? Self.never)
    return next == Self.never ? nil : next
  }

  subscript(name: String) -> LaneTimer? {
    get { table[name].map { LaneTimer($0, name: name) } }
    set {
      if !held.isEmpty { held[name] = nil }
      if newValue?.failures != nil { failing.insert(name) } else if !failing.isEmpty { failing.remove(name) }
      let segment = table.set(name, newValue.map { $0.compact(name: name) })
      if let newValue { earliest[segment] = min(earliest[segment], newValue.due) }
    }
  }

  /// Sets a timer from the stored value of a ledger record, in the form that ``LedgerRecord`` writes after the version.
  /// - Returns: False if the value is too short, or if timers were found or taken.
  mutating func restore(utf8 name: UnsafeBufferPointer<UInt8>, _ stored: UnsafeBufferPointer<UInt8>) -> Bool {
    // Eight bytes of time, the key with its length in four bytes, the payload.
    guard held.isEmpty, stored.count >= 12 else { return false }
    let at = Timestamp(millisecondsSince1970: Int64(bitPattern: Self.integer(stored[..<8])))
    let payload = 12 + Int(Self.integer(stored[8..<12]))
    guard payload <= stored.count else { return false }
    if !failing.isEmpty { failing.remove(String(decoding: name, as: UTF8.self)) }
    let hasKey = !stored[12..<payload].elementsEqual(name)
    let time = stored[(CompactTimer.isLong(at) ? 0 : 2)..<8]
    let rest = stored[(hasKey ? 8 : payload)...]
    let segment = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 + time.count + rest.count) { compact in
      compact[0] = CompactTimer.flags(at, hasKey: hasKey)
      let end = compact[1...].update(fromContentsOf: time)
      _ = compact[end...].update(fromContentsOf: rest)
      return table.set(utf8: name, UnsafeBufferPointer(compact))
    }
    earliest[segment] = min(earliest[segment], at)
    return true
  }

  private static func integer(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns timers that are due, in the order of their times, each one once: it is not returned again until it is set
  /// or postponed.
  mutating func takeDue(at now: Timestamp, upTo count: Int) -> [String] {
    var due: [String] = []
    while due.count < count, let next = found.first ?? search(at: now) {
      _ = found.popFirst()
      // A timer that was set again or removed since then has lost its hold.
      guard held[next.name] == .found else { continue }
      held[next.name] = .taken
      due.append(next.name)
    }
    return due
  }

  /// Returns the timers of record keys, in no order, without those whose name is their key.
  func names(of keys: Set<ArraySlice<UInt8>>) -> [String] {
    var names: [String] = []
    for segment in 0..<CompactTable.segmentCount {
      table.forEach(in: segment) { name, bytes in
        if let key = CompactTimer.key(bytes), keys.contains(key) { names.append(CompactTable.name(ofKey: name)) }
      }
    }
    return names
  }

  /// Allows a timer that was taken to be taken again from a time on, but not before its own time.
  mutating func postpone(_ name: String, until time: Timestamp) {
    guard table[name] != nil else { return }
    held[name] = .postponed(until: time)
    expect(name, at: time)
  }

  /// Allows all timers to be taken at their times again.
  mutating func release() {
    found = Deque()
    for name in held.keys { expect(name, at: self[name]?.due ?? Self.never) }
    held = [:]
  }

  private mutating func expect(_ name: String, at time: Timestamp) {
    let segment = table.segment(of: name)
    earliest[segment] = min(earliest[segment], time)
  }

  /// Looks for due timers in all segments that may have some, and returns the first one.
  ///
  /// If very many are due, for instance after days without the worker, it stops early. Timers of different segments are
  /// then not in the order of their times.
  private mutating func search(at now: Timestamp) -> (name: String, at: Timestamp)? {
    var due: [(name: String, at: Timestamp)] = []
    for segment in earliest.indices where earliest[segment] <= now && due.count < Self.mostFound {
      var next = Self.never
      table.forEach(in: segment) { key, value in
        var at = CompactTimer.due(value)
        if at <= now {
          let name = CompactTable.name(ofKey: key)
          switch held[name] {
          case nil: return due.append((name, at))
          case .postponed(let until) where until <= now: return due.append((name, at))
          case .postponed(let until): at = until
          case .found, .taken: at = Self.never
          }
        }
        next = min(next, at)
      }
      earliest[segment] = next
    }
    for timer in due.sorted(by: { $0.at < $1.at }) {
      held[timer.name] = .found
      found.append(timer)
    }
    return found.first
  }

  private static let mostFound = 1_000
}

/// The form of a timer in the table: a byte of flags, six or eight bytes of time, the failures in two and eight bytes, the key
/// with its length in four bytes, the payload. A timer whose key is its name has no key of its own, and one that has not
/// failed has no failures.
private enum CompactTimer {
  private static let hasKey: UInt8 = 1
  private static let isLong: UInt8 = 2
  private static let hasFailed: UInt8 = 4

  /// Whether a time does not fit in six bytes, which last until the year 10889.
  static func isLong(_ at: Timestamp) -> Bool { at.millisecondsSince1970 >> 48 != 0 }

  static func flags(_ at: Timestamp, hasKey: Bool, hasFailed: Bool = false) -> UInt8 {
    (hasKey ? Self.hasKey : 0) | (isLong(at) ? isLong : 0) | (hasFailed ? Self.hasFailed : 0)
  }

  static func hasKey(_ flags: UInt8?) -> Bool { (flags ?? 0) & hasKey != 0 }

  /// The number of bytes of the flags and the time.
  private static func timeEnd(_ flags: UInt8?) -> Int { (flags ?? 0) & isLong != 0 ? 9 : 7 }

  /// The number of bytes before the key.
  static func start(_ flags: UInt8?) -> Int { timeEnd(flags) + ((flags ?? 0) & hasFailed != 0 ? 10 : 0) }

  /// Returns the failures of a timer; nil if it has not failed.
  static func failures(_ compact: ArraySlice<UInt8>) -> TimerFailures? {
    guard (compact.first ?? 0) & hasFailed != 0 else { return nil }
    let bytes = compact.dropFirst(timeEnd(compact.first))
    return TimerFailures(
      attempts: bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) }, due: timestamp(bytes.dropFirst(2).prefix(8)))
  }

  /// Returns the time when a timer fires next.
  static func due(_ compact: ArraySlice<UInt8>) -> Timestamp { failures(compact)?.due ?? time(compact) }

  private static func timestamp(_ bytes: ArraySlice<UInt8>) -> Timestamp {
    Timestamp(millisecondsSince1970: Int64(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
  }

  /// Returns the key of a timer; nil if it is the timer's name.
  static func key(_ compact: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard hasKey(compact.first) else { return nil }
    let rest = compact.dropFirst(start(compact.first))
    return rest.dropFirst(4).prefix(rest.prefix(4).reduce(0) { $0 << 8 | Int($1) })
  }

  static func time(_ compact: ArraySlice<UInt8>) -> Timestamp {
    timestamp(compact.prefix(timeEnd(compact.first)).dropFirst())
  }
}

extension LaneTimer {
  fileprivate func compact(name: String) -> [UInt8] {
    let hasKey = !key.elementsEqual(name.utf8)
    var bytes = ByteWriter(CompactTimer.flags(at, hasKey: hasKey, hasFailed: failures != nil))
    let milliseconds = UInt64(bitPattern: at.millisecondsSince1970)
    if CompactTimer.isLong(at) { bytes.put(UInt16(milliseconds >> 48)) }
    bytes.put(UInt16(truncatingIfNeeded: milliseconds >> 32))
    bytes.put(UInt32(truncatingIfNeeded: milliseconds))
    if let failures {
      bytes.put(UInt16(clamping: failures.attempts))
      bytes.put(failures.due.millisecondsSince1970)
    }
    if hasKey {
      bytes.put(UInt32(clamping: key.count))
      bytes.put(contentsOf: key)
    }
    bytes.put(contentsOf: payload)
    return bytes.bytes
  }

  fileprivate init(_ compact: [UInt8], name: String) {
    at = CompactTimer.time(compact[...])
    failures = CompactTimer.failures(compact[...])
    if let key = CompactTimer.key(compact[...]) {
      self.key = Array(key)
      payload = Array(compact[key.endIndex...])
    } else {
      key = Array(name.utf8)
      payload = Array(compact.dropFirst(CompactTimer.start(compact.first)))
    }
  }
}
