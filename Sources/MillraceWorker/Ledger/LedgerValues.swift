// The values of ledger entries, each with its layout: the fields in the order in which `write(to:)` writes them.

internal import AppStore

/// The state of a notification.
struct Handled: LedgerValue {
  /// The state of a notification.
  enum State: Sendable, Hashable {
    /// The outcome is in Kafka. `digest` distinguishes it from another outcome (``OutcomeDigest``).
    case done(digest: UInt32)
    /// The notification waits on a retry topic. `attempt` is the number of runs so far, 0 if it waits for another
    /// notification of its key. If `delayIndex` is nil, it waits outside the order of its key: no notification waits for it.
    case delayed(attempt: Int, delayIndex: Int?)
    /// The notification is a dead letter.
    case dead
  }

  var state: State
  /// The time of the last change, in minutes since 1970, which is precise enough for the horizon.
  var minute: UInt32
  /// Whether the entry is on a ``LedgerPage`` in Kafka and not in a record of its own.
  var isOnPage = false

  init(_ state: State, minute: UInt32) {
    self.state = state
    self.minute = min(minute, Self.lastMinute)
  }

  init(_ state: State, at time: Timestamp) {
    self.init(state, minute: Self.minute(of: time))
  }

  /// A code of the state, the minute, and four bytes for the state, which a dead notification does not need.
  init(_ bytes: inout ByteReader) throws(LedgerRecordError) {
    let code: UInt8 = try bytes.integer()
    let minute: UInt32 = try bytes.integer()
    let detail: UInt32 = code == Self.deadCode ? 0 : try bytes.integer()
    guard let state = Self.state(ofCode: code, detail) else { throw .malformed }
    self.init(state, minute: minute)
  }

  func write(to bytes: inout ByteWriter) {
    let (code, detail) = code
    bytes.put(code)
    bytes.put(minute)
    if code != Self.deadCode { bytes.put(detail) }
  }

  private static let deadCode: UInt8 = 3

  /// The state in a code of two bits that is not 0, and four bytes: the digest, or attempt and retry topic.
  var code: (state: UInt8, detail: UInt32) {
    switch state {
    case .done(let digest): (1, digest)
    case .delayed(let attempt, let delayIndex):
      (
        2,
        UInt32(UInt16(clamping: attempt)) << 16 | UInt32(delayIndex.map { min(UInt16(clamping: $0), .max - 1) } ?? .max)
      )
    case .dead: (Self.deadCode, 0)
    }
  }

  /// Returns the state of a ``code``; nil if there is none.
  static func state(ofCode code: UInt8, _ detail: UInt32) -> State? {
    switch code {
    case 1: return .done(digest: detail)
    case 2:
      let delayIndex = UInt16(truncatingIfNeeded: detail)
      return .delayed(attempt: Int(detail >> 16), delayIndex: delayIndex == .max ? nil : Int(delayIndex))
    case deadCode: return .dead
    default: return nil
    }
  }

  /// 29 bits of minutes: until the year 2990.
  static let lastMinute: UInt32 = 0x1FFF_FFFF

  /// Returns the minute of a time, limited to the range that a ledger can store.
  static func minute(of time: Timestamp) -> UInt32 {
    UInt32(clamping: min(time.millisecondsSince1970 / 60_000, Int64(lastMinute)))
  }
}

/// An action that cannot be undone.
struct Effect: KeyedValue {
  /// The progress of an effect.
  enum Progress: Sendable, Hashable {
    /// The request may have been sent. If it is sent again, it must have this body.
    case intended(body: [UInt8])
    /// The effect completed with this result.
    case ended(result: [UInt8])
  }

  /// The record key of the notification that began it; empty after the customer was erased.
  var key: [UInt8] = []
  /// The time when the intent was first written.
  var intendedAt: Timestamp
  var progress: Progress

  init(key: [UInt8] = [], intendedAt: Timestamp, progress: Progress) {
    (self.key, self.intendedAt, self.progress) = (key, intendedAt, progress)
  }

  init(_ bytes: inout ByteReader) throws(LedgerRecordError) {
    let code: UInt8 = try bytes.integer()
    intendedAt = Timestamp(millisecondsSince1970: try bytes.integer())
    key = Array(try bytes.counted())
    switch code {
    case 1: progress = .intended(body: Array(bytes.rest()))
    case 2: progress = .ended(result: Array(bytes.rest()))
    default: throw .malformed
    }
  }

  func write(to bytes: inout ByteWriter) {
    let (code, content): (UInt8, [UInt8]) =
      switch progress {
      case .intended(let body): (1, body)
      case .ended(let result): (2, result)
      }
    bytes.put(code)
    bytes.put(intendedAt.millisecondsSince1970)
    bytes.put(counted: key)
    bytes.put(contentsOf: content)
  }

  static func key(_ bytes: inout ByteReader) throws(LedgerRecordError) -> ArraySlice<UInt8>? {
    _ = try bytes.take(9)
    return try bytes.counted()
  }
}

/// The mark of an erased customer.
struct Erasure: LedgerValue {
  /// When the erasure was ordered. Notifications that Apple signed before are not handled.
  var at: Timestamp
  /// The secret with which the mark was computed (`ErasureKey.fingerprint`).
  var fingerprint: UInt32

  init(at: Timestamp, fingerprint: UInt32) { (self.at, self.fingerprint) = (at, fingerprint) }

  init(_ bytes: inout ByteReader) throws(LedgerRecordError) {
    at = Timestamp(millisecondsSince1970: try bytes.integer())
    fingerprint = try bytes.integer()
  }

  func write(to bytes: inout ByteWriter) {
    bytes.put(at.millisecondsSince1970)
    bytes.put(fingerprint)
  }
}

/// A state that a handler stored.
struct StoredState: KeyedValue {
  /// The value that the handler stored.
  var value: [UInt8]
  /// The record key of the notification that stored it.
  var key: [UInt8]

  init(_ value: [UInt8], key: [UInt8]) { (self.value, self.key) = (value, key) }

  init(_ bytes: inout ByteReader) throws(LedgerRecordError) {
    key = Array(try Self.key(&bytes) ?? bytes.name)
    value = Array(bytes.rest())
  }

  func write(to bytes: inout ByteWriter) {
    let hasKey = !key.elementsEqual(bytes.name)
    bytes.put(hasKey ? 1 : 0 as UInt8)
    if hasKey { bytes.put(counted: key) }
    bytes.put(contentsOf: value)
  }

  static func check(_ bytes: inout ByteReader) throws(LedgerRecordError) { _ = try key(&bytes) }

  static func key(_ bytes: inout ByteReader) throws(LedgerRecordError) -> ArraySlice<UInt8>? {
    let hasKey: UInt8 = try bytes.integer()
    guard hasKey <= 1 else { throw .malformed }
    return hasKey == 1 ? try bytes.counted() : nil
  }
}

/// The failed runs of a timer's handler.
struct TimerFailures: Sendable, Hashable {
  /// The number of failed runs since the timer was set.
  var attempts: Int
  /// The time of the next run.
  var due: Timestamp
}

/// A timer that belongs to a lane.
struct LaneTimer: KeyedValue {
  /// The time when the timer fires.
  var at: Timestamp
  /// The record key of the notification that set it.
  var key: [UInt8]
  /// The payload that was given when the timer was set.
  var payload: [UInt8]
  /// The failed runs of its handler since it was set; nil if there is none.
  var failures: TimerFailures?

  init(at: Timestamp, key: [UInt8], payload: [UInt8], failures: TimerFailures? = nil) {
    (self.at, self.key, self.payload, self.failures) = (at, key, payload, failures)
  }

  /// The time when the timer fires next.
  var due: Timestamp { failures?.due ?? at }

  /// The first layout had no failures, and always a key.
  static let version: UInt8 = 2

  init(_ bytes: inout ByteReader) throws(LedgerRecordError) {
    let head = try Head(&bytes)
    (at, failures, key) = (head.at, head.failures, Array(head.key ?? bytes.name))
    payload = Array(bytes.rest())
  }

  func write(to bytes: inout ByteWriter) {
    let hasKey = !key.elementsEqual(bytes.name)
    bytes.put((hasKey ? Head.hasKey : 0) | (failures == nil ? 0 : Head.hasFailed))
    bytes.put(short: at)
    if let failures {
      bytes.put(UInt16(clamping: failures.attempts))
      bytes.put(short: failures.due)
    }
    if hasKey { bytes.put(counted: key) }
    bytes.put(contentsOf: payload)
  }

  static func check(_ bytes: inout ByteReader) throws(LedgerRecordError) { _ = try Head(&bytes) }

  static func key(_ bytes: inout ByteReader) throws(LedgerRecordError) -> ArraySlice<UInt8>? { try Head(&bytes).key }

  /// The fields before the payload.
  struct Head {
    static let hasKey: UInt8 = 1
    static let hasFailed: UInt8 = 2

    var at: Timestamp
    var failures: TimerFailures?
    /// Nil if it is the timer's name.
    var key: ArraySlice<UInt8>?

    init(_ bytes: inout ByteReader) throws(LedgerRecordError) {
      let flags: UInt8 = try bytes.integer()
      guard flags <= Self.hasKey | Self.hasFailed else { throw .malformed }
      at = try bytes.shortTime()
      if flags & Self.hasFailed != 0 {
        let attempts: UInt16 = try bytes.integer()
        failures = TimerFailures(attempts: Int(attempts), due: try bytes.shortTime())
      }
      if flags & Self.hasKey != 0 { key = try bytes.counted() }
    }

    var due: Timestamp { failures?.due ?? at }
  }
}

/// The value of a counter.
extension Int64: LedgerValue {
  init(_ bytes: inout ByteReader) throws(LedgerRecordError) { self = try bytes.integer() }
  func write(to bytes: inout ByteWriter) { bytes.put(self) }
}

/// The id of a notification, as a tail has it.
extension LedgerKey: LedgerValue {
  init(_ bytes: inout ByteReader) throws(LedgerRecordError) {
    self.init(high: try bytes.integer(), low: try bytes.integer())
  }

  func write(to bytes: inout ByteWriter) {
    bytes.put(high)
    bytes.put(low)
  }
}

/// The name of an instance.
extension String: LedgerValue {
  init(_ bytes: inout ByteReader) throws(LedgerRecordError) {
    guard let text = String(validating: bytes.rest(), as: UTF8.self) else { throw .malformed }
    self = text
  }

  func write(to bytes: inout ByteWriter) { bytes.put(contentsOf: Array(utf8)) }
}
