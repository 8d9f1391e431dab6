// Schedules the records of a lane by key: which record a handler gets next, and how many may be in flight.

internal import AppStore
internal import HeapModule

/// Runs records of one key one at a time and in order, and records of different keys in parallel, within limits.
///
/// Live records go before replayed ones, then the earliest deadline goes first, then groups (apps) take turns. A record
/// counts toward the limits until its outcome is decided.
struct KeyedScheduler<Record: Sendable>: Sendable {
  /// The limits of what may be in flight.
  struct Limits: Sendable, Hashable {
    /// The maximum number of records.
    var records: Int
    /// The maximum number of bytes. A larger record is admitted if it is alone; otherwise it could never leave its
    /// topic.
    var bytes: Int
    /// The maximum number of handlers that run. Those that wait (``KeyedScheduler/wait(_:)``) do not count.
    var handlers: Int
    /// The maximum number of waiting handlers of one group.
    var waiting: Int
  }

  private enum Phase: Sendable { case free, working, waiting }

  /// A record that was given to a handler. Its number combines its slot and the slot's generation, so the number of a
  /// record that is finished identifies nothing.
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

  /// A key that is hashed as a whole. An array hashes each byte for itself.
  private struct Key: Hashable, Sendable {
    let bytes: [UInt8]
    func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
  }

  private let limits: Limits
  private var lines = Slots<KeyQueue<Record>>()
  private var lineOfKey: [Key: Int] = [:]
  private var groups = Slots<Group>()
  private var groupOfName: [String: Int] = [:]
  private var lastGroup: Int?
  private var inside = Slots<Inside>()
  private var ready = Heap<Ready>()
  private var readyKeys = 0
  private var lastNumber: UInt64 = 0
  private var turn: UInt64 = 0

  /// Whether only one record at a time is with a handler, running or waiting. A lane sets this if a record is suspected
  /// of killing the process.
  var isOneAtATime = false

  /// The number of records that are admitted and not decided.
  private(set) var count = 0
  /// The bytes of the records that are admitted and not decided.
  private(set) var bytes = 0
  /// The number of running handlers.
  private(set) var working = 0
  /// The number of waiting handlers.
  private(set) var waiting = 0

  init(limits: Limits) {
    self.limits = Limits(
      records: max(1, limits.records), bytes: max(1, limits.bytes), handlers: max(1, limits.handlers),
      waiting: max(0, limits.waiting))
  }

  /// Whether a record of this size may be admitted. If not, the lane stops reading.
  func hasRoom(for bytes: Int) -> Bool {
    count == 0 || (count < limits.records && self.bytes <= limits.bytes - max(0, bytes))
  }

  /// Admits a record.
  ///
  /// - Parameters:
  ///   - key: The ordering key.
  ///   - group: The app, so that one app does not delay the others.
  ///   - bytes: The memory that the record takes.
  ///   - isReplay: Whether the record is a replay, which runs after live records.
  ///   - deadline: The time after which the record is no longer worth handling.
  ///   - hasOwnPlace: Whether the record is exempt from the limits. The caller limits the number of such records.
  /// - Returns: False if there is no room; the record was not admitted.
  mutating func admit(
    _ record: Record, key: [UInt8], group: String, bytes: Int, isReplay: Bool = false, deadline: Timestamp? = nil,
    hasOwnPlace: Bool = false
  ) -> Bool {
    let bytes = max(0, bytes)
    guard hasOwnPlace || hasRoom(for: bytes) else { return false }
    count += 1
    self.bytes += bytes
    let place = KeyQueue<Record>.Place(
      record: record, group: enter(group), bytes: bytes, deadline: isReplay ? nil : deadline)
    let number = line(of: key)
    let before = (lines[number].isReplayOnly, lines[number].earliestDeadline)
    lines[number].append(place, isReplay: isReplay)
    let isBetter = before != (lines[number].isReplayOnly, lines[number].earliestDeadline)
    if !lines[number].isBusy, lines[number].readyNumber == nil || isBetter { makeReady(number) }
    return true
  }

  /// Returns the next record for a handler, with the number that identifies it from now on; nil if none is ready or no
  /// more handlers may run.
  mutating func next() -> (number: UInt64, record: Record)? {
    guard isOneAtATime ? working + waiting == 0 : working < limits.handlers else { return nil }
    while let candidate = ready.popMin() {
      let line = candidate.line
      // Skip stale entries, for instance if another key has reused the slot.
      guard lines[line].readyNumber == candidate.number, let place = lines[line].popFirst() else { continue }
      lines[line].readyNumber = nil
      readyKeys -= 1
      lines[line].isBusy = true
      #if PLANTED_FAULTS
        if PlantedFault.concurrentKeys.isActive, !lines[line].isEmpty {
          lines[line].isBusy = false
          makeReady(line)
        }
      #endif
      working += 1
      turn = max(turn, candidate.turn)
      return (take(place, of: line), place.record)
    }
    return nil
  }

  /// A handler waits, for instance for a rate-limit slot, and lets other handlers run meanwhile.
  /// - Returns: False if too many handlers of its group wait already. Then the record has to leave the lane.
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

  /// A handler that waited continues at once, because its rate-limit slot will not come back.
  mutating func resume(_ number: UInt64) {
    guard let job = place(of: number, in: .waiting) else { return }
    inside[job].phase = .working
    groups[inside[job].group].waiting -= 1
    working += 1
    waiting -= 1
  }

  /// Returns the key of a record that is with a handler; nil if the record is finished.
  func key(of number: UInt64) -> [UInt8]? {
    guard let job = place(of: number, in: .working) ?? place(of: number, in: .waiting) else { return nil }
    return lines[inside[job].line].key
  }

  /// Returns the number of the record of a key that is with a handler; nil if there is none.
  func running(of key: [UInt8]) -> UInt64? {
    guard let line = lineOfKey[Key(bytes: key)], lines[line].isBusy else { return nil }
    let job = (0..<inside.count).first { inside[$0].phase != .free && inside[$0].line == line }
    return job.map { inside[$0].generation << Self.placeBits | UInt64($0) }
  }

  /// The outcome of a record is decided, so the record leaves, and the next record of its key may run. The caller must
  /// stage the outcome in the ledger (``Ledger/stage(_:)``) before it calls ``next()`` again.
  mutating func decided(_ number: UInt64) {
    resume(number)
    guard let job = place(of: number, in: .working) else { return }
    let (line, group) = (inside[job].line, inside[job].group)
    working -= 1
    count -= 1
    bytes -= inside[job].bytes
    inside[job].phase = .free
    inside.release(job)
    lines[line].isBusy = false
    if lines[line].isEmpty { forget(line) } else { makeReady(line) }
    leave(group)
  }

  // MARK: - Places

  private static var placeBits: UInt64 { 32 }

  private mutating func take(_ place: KeyQueue<Record>.Place, of line: Int) -> UInt64 {
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
    let name = Key(bytes: key)
    if let line = lineOfKey[name] { return line }
    let line = lines.take {
      KeyQueue(key: key)
    } reuse: {
      $0.key = key
    }
    lineOfKey[name] = line
    return line
  }

  private mutating func forget(_ line: Int) {
    lineOfKey[Key(bytes: lines[line].key)] = nil
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

  /// Makes a key ready. Groups take fair turns: a group's next turn comes after its last one and after those that are
  /// current. So a group that was idle does not accumulate turns.
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

  /// Removes stale entries. A key that moves forward in the ready queue leaves its older entry there.
  private mutating func dropStale() {
    guard ready.count > 2 * readyKeys + 64 else { return }
    ready = Heap(ready.unordered.filter { lines[$0.line].readyNumber == $0.number })
  }
}
