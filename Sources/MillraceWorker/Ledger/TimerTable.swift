// The timers of a lane that are in Kafka. There may be millions, most of them due in weeks, so they have no heap: each
// segment of the table keeps a lower bound of its due times, and is searched when that time comes.

internal import AppStore
internal import DequeModule

/// Timers by name, and which of them are due.
struct TimerTable: Sendable {
  private(set) var table = CompactTable()
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
    get { table[name].flatMap { LaneTimer.stored($0[...], .timer(name)) } }
    set { set(.timer(name, newValue)) }
  }

  /// Sets or removes a timer.
  mutating func set(_ entry: LedgerEntry) {
    let head = entry.fields.flatMap { Self.head($0) }
    if !held.isEmpty || !failing.isEmpty || head?.failures != nil {
      let name = entry.name.text
      held[name] = nil
      if head?.failures == nil { failing.remove(name) } else { failing.insert(name) }
    }
    let segment = table.set(entry.name.bytes, entry.fields)
    if let head { earliest[segment] = min(earliest[segment], head.due) }
  }

  private static func head(_ fields: ArraySlice<UInt8>) -> LaneTimer.Head? {
    ByteReader.checked(fields) { try LaneTimer.Head(&$0) }
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
        guard var at = Self.head(value)?.due else { return }
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
