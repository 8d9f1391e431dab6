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

  private enum Phase: Sendable { case working, waiting, decided }

  private struct Inside: Sendable {
    var key: [UInt8]
    var group: String
    var bytes: Int
    var phase = Phase.working
  }

  private struct Group: Sendable {
    var places = 0
    var waiting = 0
    var turn: UInt64 = 0
  }

  private struct Ready: Comparable, Sendable {
    var isReplay: Bool
    var deadline: Timestamp?
    var turn: UInt64
    var number: UInt64
    var key: [UInt8]

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
  private var lines: [[UInt8]: KeyLine<Record>] = [:]
  private var groups: [String: Group] = [:]
  private var inside: [UInt64: Inside] = [:]
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
  /// - Returns: false where there is no room; nothing changed then.
  mutating func admit(
    _ record: Record, key: [UInt8], group: String, bytes: Int, isReplay: Bool = false, deadline: Timestamp? = nil
  ) -> Bool {
    let bytes = max(0, bytes)
    guard hasRoom(for: bytes) else { return false }
    count += 1
    self.bytes += bytes
    groups[group, default: Group()].places += 1
    let place = KeyLine.Place(
      number: nextNumber(), record: record, group: group, bytes: bytes, deadline: isReplay ? nil : deadline)
    var line = lines.removeValue(forKey: key) ?? KeyLine()
    let before = (line.isReplayOnly, line.earliestDeadline)
    line.append(place, isReplay: isReplay)
    if !line.isBusy, line.readyNumber == nil || before != (line.isReplayOnly, line.earliestDeadline) {
      makeReady(&line, key: key)
    }
    lines[key] = line
    return true
  }

  /// The next record to hand to a handler; nil where none is ready or no more may run.
  mutating func next() -> Job? {
    guard isOneAtATime ? working + waiting == 0 : working < limits.handlers else { return nil }
    while let candidate = ready.popFirst() {
      guard var line = lines.removeValue(forKey: candidate.key) else { continue }
      defer { lines[candidate.key] = line }
      guard line.readyNumber == candidate.number, let place = line.popFirst() else { continue }
      line.readyNumber = nil
      readyKeys -= 1
      line.isBusy = true
      working += 1
      turn = max(turn, candidate.turn)
      inside[place.number] = Inside(key: candidate.key, group: place.group, bytes: place.bytes)
      return Job(number: place.number, record: place.record)
    }
    return nil
  }

  /// A handler wants to wait, for its turn in a budget for instance, and lets others work meanwhile.
  /// - Returns: false where as many of its group wait as may: the record has to leave the lane instead.
  mutating func wait(_ number: UInt64) -> Bool {
    guard let job = inside[number], job.phase == .working, let group = groups[job.group],
      group.waiting < limits.waiting
    else { return false }
    inside[number]?.phase = .waiting
    groups[job.group]?.waiting += 1
    working -= 1
    waiting += 1
    return true
  }

  /// A handler that waited works again, at once: its turn does not come back.
  mutating func resume(_ number: UInt64) {
    guard let job = inside[number], job.phase == .waiting else { return }
    inside[number]?.phase = .working
    groups[job.group]?.waiting -= 1
    working += 1
    waiting -= 1
  }

  /// It is decided what becomes of a record: the next of its key may run. Its outcome must stand in the ledger
  /// (``Ledger/stage(_:)``) before ``next()`` is asked again.
  mutating func decided(_ number: UInt64) {
    resume(number)
    guard let job = inside[number], job.phase == .working else { return }
    inside[number]?.phase = .decided
    working -= 1
    guard var line = lines.removeValue(forKey: job.key) else { return }
    line.isBusy = false
    guard !line.isEmpty else { return }
    makeReady(&line, key: job.key)
    lines[job.key] = line
  }

  /// What followed from a decided record is in Kafka: its place is free.
  mutating func settled(_ number: UInt64) {
    guard let job = inside[number], job.phase == .decided else { return }
    inside[number] = nil
    count -= 1
    bytes -= job.bytes
    groups[job.group]?.places -= 1
    if groups[job.group]?.places == 0 { groups[job.group] = nil }
  }

  /// Fair turns: a group's next turn is one after its last, and never before those that are running now, so nobody
  /// saves turns up by being quiet.
  private mutating func makeReady(_ line: inout KeyLine<Record>, key: [UInt8]) {
    guard let place = line.first else { return }
    let own = max(turn, groups[place.group]?.turn ?? 0) + 1
    groups[place.group]?.turn = own
    if line.readyNumber == nil { readyKeys += 1 }
    let number = nextNumber()
    line.readyNumber = number
    ready.insert(
      Ready(
        isReplay: line.isReplayOnly, deadline: line.earliestDeadline, turn: own, number: number, key: key))
    dropStale(replacing: key, with: number)
  }

  /// A key whose place among the ready ones improved leaves its older entry behind; they must not add up.
  private mutating func dropStale(replacing key: [UInt8], with number: UInt64) {
    guard ready.count > 2 * readyKeys + 64 else { return }
    ready = MinHeap(
      ready.unordered.filter { $0.number == ($0.key == key ? number : lines[$0.key]?.readyNumber) })
  }

  private mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}
