// Keyed parallelism inside a lane: which record is handed to a handler next, and how many may be inside.

internal import AppStore

/// Records of one key in order and one at a time, different keys in parallel, within bounds.
///
/// Among ready keys live traffic goes before replays, then the earliest deadline, then the groups (apps) in turn. A
/// record keeps its place until it is settled, that is until what followed from it is in Kafka: outcomes that wait for
/// their commit cost memory too.
struct KeyLanes<Record: Sendable>: Sendable {
  /// What may be inside at the same time.
  struct Limits: Sendable, Hashable {
    /// Most records.
    var records: Int
    /// Most bytes; one larger record alone is admitted, or it could never leave its topic.
    var bytes: Int
    /// Most handlers that work. Those that wait (``KeyLanes/wait(_:)``) are not counted.
    var handlers: Int
    /// Most handlers of one group that wait.
    var waiting: Int
  }

  /// A record that was handed out.
  struct Job: Sendable {
    /// Names it to ``KeyLanes``.
    var number: UInt64
    var record: Record
  }

  private enum Phase: Sendable { case free, working, waiting, decided }

  /// A record that was handed out. Its number is its place and how often that was taken, so that numbers of records
  /// that left name nobody.
  private struct Inside: Sendable {
    var line = 0
    var group = 0
    var bytes = 0
    var phase = Phase.free
    var generation: UInt64 = 0
  }

  private struct Group: Sendable {
    var name: String
    var places = 0
    var waiting = 0
    var turn: UInt64 = 0
  }

  private struct Ready: Comparable, Sendable {
    var isReplay: Bool
    var deadline: Timestamp?
    var turn: UInt64
    var number: UInt64
    var line: Int

    static func == (left: Self, right: Self) -> Bool { left.number == right.number }
    static func < (left: Self, right: Self) -> Bool {
      if left.isReplay != right.isReplay { return right.isReplay }
      if left.deadline != right.deadline {
        guard let earlier = left.deadline else { return false }
        guard let later = right.deadline else { return true }
        return earlier < later
      }
      return (left.turn, left.number) < (right.turn, right.number)
    }
  }

  private let limits: Limits
  private var lines = Slots<KeyLine<Record>>()
  private var lineOfKey: [[UInt8]: Int] = [:]
  private var groups = Slots<Group>()
  private var groupOfName: [String: Int] = [:]
  private var lastGroup: Int?
  private var inside = Slots<Inside>()
  private var ready = MinHeap<Ready>()
  private var readyKeys = 0
  private var lastNumber: UInt64 = 0
  private var turn: UInt64 = 0

  /// Whether one record at a time is inside a handler, waiting or not: for a lane that suspects a record of killing its
  /// process.
  var isOneAtATime = false

  /// Records admitted and not settled.
  private(set) var count = 0
  /// Bytes of them.
  private(set) var bytes = 0
  /// Handlers at work.
  private(set) var working = 0
  /// Handlers that wait.
  private(set) var waiting = 0

  init(limits: Limits) {
    self.limits = Limits(
      records: max(1, limits.records), bytes: max(1, limits.bytes), handlers: max(1, limits.handlers),
      waiting: max(0, limits.waiting))
  }

  /// Whether a record of that many bytes may come in. No means: stop reading.
  func hasRoom(for bytes: Int) -> Bool {
    count == 0 || (count < limits.records && self.bytes <= limits.bytes - max(0, bytes))
  }

  /// Takes a record in.
  ///
  /// - Parameters:
  ///   - key: What orders it.
  ///   - group: Who must not hold up the others: the app.
  ///   - bytes: What it costs in memory.
  ///   - isReplay: Whether it was sent again: it goes behind live traffic.
  ///   - deadline: When it is worth nothing any more.
  ///   - hasOwnPlace: Whether it comes in beyond the limits; whoever says so bounds how many do.
  /// - Returns: false where there is no room; nothing changed then.
  mutating func admit(
    _ record: Record, key: [UInt8], group: String, bytes: Int, isReplay: Bool = false, deadline: Timestamp? = nil,
    hasOwnPlace: Bool = false
  ) -> Bool {
    let bytes = max(0, bytes)
    guard hasOwnPlace || hasRoom(for: bytes) else { return false }
    count += 1
    self.bytes += bytes
    let place = KeyLine<Record>.Place(
      record: record, group: enter(group), bytes: bytes, deadline: isReplay ? nil : deadline)
    let number = line(of: key)
    let before = (lines[number].isReplayOnly, lines[number].earliestDeadline)
    lines[number].append(place, isReplay: isReplay)
    let isBetter = before != (lines[number].isReplayOnly, lines[number].earliestDeadline)
    if !lines[number].isBusy, lines[number].readyNumber == nil || isBetter { makeReady(number) }
    return true
  }

  /// The next record to hand to a handler; nil where none is ready or no more may run.
  mutating func next() -> Job? {
    guard isOneAtATime ? working + waiting == 0 : working < limits.handlers else { return nil }
    while let candidate = ready.popFirst() {
      let line = candidate.line
      // Entries that no longer count, also of a key whose place is another's now.
      guard lines[line].readyNumber == candidate.number, let place = lines[line].popFirst() else { continue }
      lines[line].readyNumber = nil
      readyKeys -= 1
      lines[line].isBusy = true
      working += 1
      turn = max(turn, candidate.turn)
      return Job(number: take(place, of: line), record: place.record)
    }
    return nil
  }

  /// A handler wants to wait, for its turn in a budget for instance, and lets others work meanwhile.
  /// - Returns: false where as many of its group wait as may: the record has to leave the lane instead.
  mutating func wait(_ number: UInt64) -> Bool {
    guard let job = place(of: number, in: .working) else { return false }
    let group = inside[job].group
    guard groups[group].waiting < limits.waiting else { return false }
    inside[job].phase = .waiting
    groups[group].waiting += 1
    working -= 1
    waiting += 1
    return true
  }

  /// A handler that waited works again, at once: its turn does not come back.
  mutating func resume(_ number: UInt64) {
    guard let job = place(of: number, in: .waiting) else { return }
    inside[job].phase = .working
    groups[inside[job].group].waiting -= 1
    working += 1
    waiting -= 1
  }

  /// It is decided what becomes of a record: the next of its key may run. Its outcome must stand in the ledger
  /// (``Ledger/stage(_:)``) before ``next()`` is asked again.
  mutating func decided(_ number: UInt64) {
    resume(number)
    guard let job = place(of: number, in: .working) else { return }
    inside[job].phase = .decided
    working -= 1
    let line = inside[job].line
    lines[line].isBusy = false
    if lines[line].isEmpty { forget(line) } else { makeReady(line) }
  }

  /// What followed from a decided record is in Kafka: its place is free.
  mutating func settled(_ number: UInt64) {
    guard let job = place(of: number, in: .decided) else { return }
    inside[job].phase = .free
    inside.release(job)
    count -= 1
    bytes -= inside[job].bytes
    leave(inside[job].group)
  }

  // MARK: - Places

  private static var placeBits: UInt64 { 32 }

  private mutating func take(_ place: KeyLine<Record>.Place, of line: Int) -> UInt64 {
    let job = inside.take {
      Inside()
    } reuse: {
      $0.generation += 1
    }
    inside[job].line = line
    inside[job].group = place.group
    inside[job].bytes = place.bytes
    inside[job].phase = .working
    return inside[job].generation << Self.placeBits | UInt64(job)
  }

  private func place(of number: UInt64, in phase: Phase) -> Int? {
    let place = Int(number & (1 << Self.placeBits - 1))
    guard place < inside.count, inside[place].generation == number >> Self.placeBits, inside[place].phase == phase
    else { return nil }
    return place
  }

  private mutating func line(of key: [UInt8]) -> Int {
    if let line = lineOfKey[key] { return line }
    let line = lines.take {
      KeyLine(key: key)
    } reuse: {
      $0.key = key
    }
    lineOfKey[key] = line
    return line
  }

  private mutating func forget(_ line: Int) {
    lineOfKey[lines[line].key] = nil
    lines.release(line)
  }

  private mutating func enter(_ name: String) -> Int {
    let group: Int
    if let lastGroup, groups[lastGroup].places > 0, groups[lastGroup].name == name {
      group = lastGroup
    } else if let known = groupOfName[name] {
      group = known
    } else {
      group = groups.take {
        Group(name: name)
      } reuse: {
        $0 = Group(name: name)
      }
      groupOfName[name] = group
    }
    lastGroup = group
    groups[group].places += 1
    return group
  }

  private mutating func leave(_ group: Int) {
    groups[group].places -= 1
    guard groups[group].places == 0 else { return }
    groupOfName[groups[group].name] = nil
    groups.release(group)
  }

  /// Fair turns: a group's next turn is one after its last, and never before those that are running now, so nobody
  /// saves turns up by being quiet.
  private mutating func makeReady(_ line: Int) {
    guard let group = lines[line].firstGroup else { return }
    let own = max(turn, groups[group].turn) + 1
    groups[group].turn = own
    if lines[line].readyNumber == nil { readyKeys += 1 }
    lastNumber += 1
    lines[line].readyNumber = lastNumber
    ready.insert(
      Ready(
        isReplay: lines[line].isReplayOnly, deadline: lines[line].earliestDeadline, turn: own, number: lastNumber,
        line: line))
    dropStale()
  }

  /// A key whose place among the ready ones improved leaves its older entry behind; they must not add up.
  private mutating func dropStale() {
    guard ready.count > 2 * readyKeys + 64 else { return }
    ready = MinHeap(ready.unordered.filter { lines[$0.line].readyNumber == $0.number })
  }
}
