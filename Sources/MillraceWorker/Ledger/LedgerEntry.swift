// The entries of a ledger.

internal import AppStore

/// The state of a notification.
struct Handled: Sendable, Hashable {
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

  /// Encodes a retry topic's index, or none, in 16 bits.
  static func code(ofDelayIndex delayIndex: Int?) -> UInt16 {
    delayIndex.map { min(UInt16(clamping: $0), .max - 1) } ?? .max
  }

  /// Decodes a retry topic's index.
  static func delayIndex(ofCode code: UInt16) -> Int? { code == .max ? nil : Int(code) }

  /// 29 bits of minutes: until the year 2990.
  static let lastMinute: UInt32 = 0x1FFF_FFFF

  /// Returns the minute of a time, limited to the range that a ledger can store.
  static func minute(of time: Timestamp) -> UInt32 {
    UInt32(clamping: min(time.millisecondsSince1970 / 60_000, Int64(lastMinute)))
  }
}

/// An action that cannot be undone.
struct Effect: Sendable, Hashable {
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
}

/// The mark of an erased customer.
struct Erasure: Sendable, Hashable {
  /// When the erasure was ordered. Notifications that Apple signed before are not handled.
  var at: Timestamp
  /// The secret with which the mark was computed (`ErasureKey.fingerprint`).
  var fingerprint: UInt32
}

/// A timer that belongs to a lane.
struct LaneTimer: Sendable, Hashable {
  /// The time when the timer fires.
  var at: Timestamp
  /// The record key of the notification that set it.
  var key: [UInt8]
  /// The payload that was given when the timer was set.
  var payload: [UInt8]
  /// The failed runs of its handler since it was set; nil if there is none.
  var failures: TimerFailures?

  /// The time when the timer fires next.
  var due: Timestamp { failures?.due ?? at }
}

/// One change of a ledger, which is also the content of one ledger record. Nil removes the entry.
enum LedgerEntry: Sendable, Hashable {
  /// A notification, by id.
  case handled(LedgerKey, Handled?)
  /// An effect, by name. Only an effect that certainly did not happen is removed.
  case effect(String, Effect?)
  /// A timer, by name.
  case timer(String, LaneTimer?)
  /// A counter of this lane, by name. Readers sum the lanes.
  case counter(String, Int64?)
  /// The last waiting notification of a record key, for strict ordering.
  case tail(LedgerKey, LedgerKey?)
  /// A state that a handler stored, by name.
  case state(String, StoredState?)
  /// Notifications that were done in one commit; see ``LedgerPage``.
  case page(LedgerPage.ID, LedgerPage?)
  /// The instance that last took over the lane. It says nothing about notifications. Its record ends the restore, because
  /// all records of earlier owners precede it.
  case owner(String?)
  /// An erased customer, by mark.
  case erasure(LedgerKey, Erasure?)

  /// The subject of an entry, which becomes the key of its record.
  enum Name: Sendable, Hashable {
    case handled(LedgerKey)
    case effect(String)
    case timer(String)
    case counter(String)
    case tail(LedgerKey)
    case state(String)
    case page(LedgerPage.ID)
    case owner
    case erasure(LedgerKey)
  }

  var name: Name {
    switch self {
    case .handled(let id, _): .handled(id)
    case .effect(let name, _): .effect(name)
    case .timer(let name, _): .timer(name)
    case .counter(let name, _): .counter(name)
    case .tail(let key, _): .tail(key)
    case .state(let name, _): .state(name)
    case .page(let id, _): .page(id)
    case .owner: .owner
    case .erasure(let mark, _): .erasure(mark)
    }
  }
}

extension LedgerEntry {
  /// Returns the entries of one commit without superseded counter values, so that a counter that every record changes
  /// is written once. The last value takes the place of the first, before the ends of all records that it counts.
  static func withoutPassedCounts(_ entries: [LedgerEntry]) -> [LedgerEntry] {
    var last: [String: LedgerEntry] = [:]
    for entry in entries { if case .counter(let name, _) = entry { last[name] = entry } }
    // Most commits contain no counters.
    guard !last.isEmpty else { return entries }
    return entries.compactMap { entry in
      if case .counter(let name, _) = entry { last.removeValue(forKey: name) } else { entry }
    }
  }
}
