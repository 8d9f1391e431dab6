// What a ledger keeps.

internal import AppStore

/// What became of a notification.
struct Handled: Sendable, Hashable {
  /// The state it is in.
  enum State: Sendable, Hashable {
    /// Its outcome is in Kafka; `digest` tells this outcome from another (``OutcomeDigest``).
    case done(digest: UInt32)
    /// It waits on a retry tier; `attempt` counts the runs it had, 0 for one that waits behind another of its key.
    /// Without a tier it waits outside the order of its key: nobody waits behind it.
    case parked(attempt: Int, tier: Int?)
    /// It is a dead letter.
    case dead
  }

  /// The state it is in.
  var state: State
  /// Since when, in minutes since 1970: as fine as the horizon needs.
  var minute: UInt32
  /// Whether Kafka has it on a ``LedgerPage``, and not in a record of its own.
  var isOnPage = false

  init(_ state: State, minute: UInt32) {
    self.state = state
    self.minute = min(minute, Self.lastMinute)
  }

  init(_ state: State, at time: Timestamp) {
    self.init(state, minute: Self.minute(of: time))
  }

  /// How a tier, or none, is kept in 16 bits.
  static func code(ofTier tier: Int?) -> UInt16 { tier.map { min(UInt16(clamping: $0), .max - 1) } ?? .max }

  /// The tier that such a code stands for.
  static func tier(ofCode code: UInt16) -> Int? { code == .max ? nil : Int(code) }

  /// 29 bits of minutes: the year 2990.
  static let lastMinute: UInt32 = 0x1FFF_FFFF

  /// The minute a moment falls into, within what a ledger can hold.
  static func minute(of time: Timestamp) -> UInt32 {
    UInt32(clamping: min(time.millisecondsSince1970 / 60_000, Int64(lastMinute)))
  }
}

/// Something done that cannot be undone.
struct Effect: Sendable, Hashable {
  /// How far it got.
  enum Progress: Sendable, Hashable {
    /// It may have been sent; if it is sent again, then with this body.
    case intended(body: [UInt8])
    /// It was done, with this answer.
    case ended(result: [UInt8])
  }

  /// When the intent was written first.
  var intendedAt: Timestamp
  /// How far it got.
  var progress: Progress
}

/// A timer that lives with a lane.
struct LaneTimer: Sendable, Hashable {
  /// When it fires.
  var at: Timestamp
  /// The record key of the notification that set it.
  var key: [UInt8]
  /// What was given when it was set.
  var payload: [UInt8]
}

/// One change of a ledger; nil removes. Also what one record of the ledger's topic says.
enum LedgerEntry: Sendable, Hashable {
  /// A notification, by its id.
  case handled(LedgerKey, Handled?)
  /// An effect, by its name. Only one that certainly was not caused is removed.
  case effect(String, Effect?)
  /// A timer, by its name.
  case timer(String, LaneTimer?)
  /// A counter of this lane, by its name; readers sum the lanes.
  case counter(String, Int64?)
  /// With strict order: the last notification that waits of a record key.
  case tail(LedgerKey, LedgerKey?)
  /// What a handler keeps, by its name.
  case state(String, [UInt8]?)
  /// Notifications that were done in one commit; see ``LedgerPage``.
  case page(LedgerPage.ID, LedgerPage?)

  /// What an entry is about: the key of its record.
  enum Name: Sendable, Hashable {
    case handled(LedgerKey)
    case effect(String)
    case timer(String)
    case counter(String)
    case tail(LedgerKey)
    case state(String)
    case page(LedgerPage.ID)
  }

  /// What it is about.
  var name: Name {
    switch self {
    case .handled(let id, _): .handled(id)
    case .effect(let name, _): .effect(name)
    case .timer(let name, _): .timer(name)
    case .counter(let name, _): .counter(name)
    case .tail(let key, _): .tail(key)
    case .state(let name, _): .state(name)
    case .page(let id, _): .page(id)
    }
  }
}

extension LedgerEntry {
  /// The entries of one commit without the counts that later ones in it pass: a counter that every record moves is
  /// written once.
  static func withoutPassedCounts(_ entries: [LedgerEntry]) -> [LedgerEntry] {
    // Most commits count nothing.
    guard entries.contains(where: { if case .counter = $0 { true } else { false } }) else { return entries }
    var seen: Set<String> = []
    var kept: [LedgerEntry] = []
    for entry in entries.reversed() {
      if case .counter(let name, _) = entry, !seen.insert(name).inserted { continue }
      kept.append(entry)
    }
    return kept.reversed()
  }
}
