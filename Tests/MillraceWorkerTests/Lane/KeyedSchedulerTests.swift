import AppStore
import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct KeyedSchedulerTests {
  private static let wide = KeyedScheduler<String>.Limits(records: 100, bytes: 1_000, handlers: 100, waiting: 2)

  private func key(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func drain(_ lanes: inout KeyedScheduler<String>) -> [String] {
    var names: [String] = []
    while let job = lanes.next() {
      names.append(job.record)
      lanes.decided(job.number)
    }
    return names
  }

  @Test func `records of a key run one at a time, the next after the first is decided`() {
    var lanes = KeyedScheduler<String>(limits: Self.wide)
    for name in ["a1", "a2"] { check(lanes.admit(name, key: key("a"), group: "", bytes: 1)) }
    let first = lanes.next()
    let blocked = lanes.next()
    #expect(first?.record == "a1")
    #expect(blocked == nil)
    if let first { lanes.decided(first.number) }
    let second = lanes.next()
    #expect(second?.record == "a2")
    #expect(lanes.count == 1)
  }

  @Test func `the number of running handlers is limited`() {
    var lanes = KeyedScheduler<String>(limits: .init(records: 9, bytes: 9, handlers: 2, waiting: 0))
    for name in ["a", "b", "c"] { check(lanes.admit(name, key: key(name), group: "", bytes: 1)) }
    let names = (0..<3).map { _ in lanes.next()?.record }
    #expect(names == ["a", "b", nil])
  }

  @Test func `records and bytes are bounded, and an oversize record is admitted alone`() {
    var lanes = KeyedScheduler<String>(limits: .init(records: 2, bytes: 10, handlers: 1, waiting: 0))
    let first = [("a", 50), ("b", 0)].map { lanes.admit($0.0, key: key($0.0), group: "", bytes: $0.1) }
    #expect(first == [true, false])
    _ = drain(&lanes)
    let second = [("c", 4), ("d", 7), ("e", 6), ("f", 0)].map {
      lanes.admit($0.0, key: key($0.0), group: "", bytes: $0.1)
    }
    #expect(second == [true, false, true, false])
  }

  @Test func `the earliest deadline goes first, after the records of its key before it`() {
    var lanes = KeyedScheduler<String>(limits: Self.wide)
    check(lanes.admit("no deadline", key: key("n"), group: "", bytes: 1))
    check(lanes.admit("late", key: key("l"), group: "", bytes: 1, deadline: .second(100)))
    check(lanes.admit("before soon", key: key("s"), group: "", bytes: 1))
    check(lanes.admit("soon", key: key("s"), group: "", bytes: 1, deadline: .second(10)))
    check(drain(&lanes) == ["before soon", "soon", "late", "no deadline"])
  }

  @Test func `live records go before replays, also within a key`() {
    var lanes = KeyedScheduler<String>(limits: Self.wide)
    check(lanes.admit("old a", key: key("a"), group: "", bytes: 1, isReplay: true, deadline: .second(0)))
    check(lanes.admit("old b", key: key("b"), group: "", bytes: 1, isReplay: true))
    check(lanes.admit("new a", key: key("a"), group: "", bytes: 1))
    check(lanes.admit("new c", key: key("c"), group: "", bytes: 1))
    check(drain(&lanes) == ["new a", "new c", "old b", "old a"])
  }

  @Test func `apps take turns`() {
    var lanes = KeyedScheduler<String>(limits: Self.wide)
    for name in ["a1", "a2", "a3", "a4"] { check(lanes.admit(name, key: key(name), group: "A", bytes: 1)) }
    for name in ["b1", "b2"] { check(lanes.admit(name, key: key(name), group: "B", bytes: 1)) }
    check(drain(&lanes) == ["a1", "b1", "a2", "b2", "a3", "a4"])
  }

  @Test func `a waiting record frees its handler, and the number of waiting records per app is limited`() {
    var lanes = KeyedScheduler<String>(limits: .init(records: 9, bytes: 9, handlers: 1, waiting: 2))
    for name in ["a1", "a2", "a3"] { check(lanes.admit(name, key: key(name), group: "A", bytes: 1)) }
    check(lanes.admit("b1", key: key("b1"), group: "B", bytes: 1))
    var waited: [String: Bool] = [:]
    var jobs: [String: UInt64] = [:]
    while let job = lanes.next() {
      jobs[job.record] = job.number
      let mayWait = lanes.wait(job.number)
      waited[job.record] = mayWait
      if !mayWait { lanes.decided(job.number) }
    }
    #expect(waited == ["a1": true, "b1": true, "a2": true, "a3": false])
    check(lanes.waiting == 3)
    for (_, number) in jobs { lanes.resume(number) }
    check(lanes.waiting == 0)
    #expect(lanes.working == 3)
  }

  @Test func `waiting records count in one-at-a-time mode`() {
    var lanes = KeyedScheduler<String>(limits: Self.wide)
    lanes.isOneAtATime = true
    for name in ["a", "b"] { check(lanes.admit(name, key: key(name), group: "", bytes: 1)) }
    let first = lanes.next()
    if let first { check(lanes.wait(first.number)) }
    check(lanes.next() == nil)
    if let first { lanes.decided(first.number) }
    check(lanes.next()?.record == "b")
  }

  @Test func `calls for unknown jobs have no effect`() {
    var lanes = KeyedScheduler<String>(limits: Self.wide)
    check(lanes.admit("a", key: key("a"), group: "", bytes: 3))
    guard let job = lanes.next() else { return #expect(Bool(false), "no job for the ready record") }
    lanes.decided(job.number + 1)
    #expect(lanes.count == 1, "another number")
    lanes.decided(job.number)
    lanes.decided(job.number)
    lanes.resume(job.number)
    #expect((lanes.count, lanes.bytes, lanes.working, lanes.waiting) == (0, 0, 0, 0))
  }

  @Test func `app B runs next behind any number of waiting records of app A`() {
    var lanes = KeyedScheduler<String>(limits: .init(records: 50, bytes: .max, handlers: 4, waiting: 2))
    var left = 0
    for number in 0..<10_000 {
      let name = number == 9_999 ? "B" : "A\(number)"
      let isIn = lanes.admit(name, key: key(name), group: String(name.prefix(1)), bytes: 1)
      #expect(isIn, "records of A beyond the limit must make room")
      while let job = lanes.next() {
        if job.record == "B" { return }
        guard !lanes.wait(job.number) else { continue }
        lanes.decided(job.number)
        left += 1
      }
    }
    #expect(Bool(false), "B never ran behind \(left) of A")
  }

  @Test(arguments: 0..<400 as Range<UInt64>)
  func `order and bounds hold and no record is lost, for any schedule`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limits = KeyedScheduler<Int>.Limits(
      records: Int.random(in: 1...40, using: &random), bytes: Int.random(in: 50...400, using: &random),
      handlers: Int.random(in: 1...6, using: &random), waiting: Int.random(in: 0...2, using: &random))
    var lanes = KeyedScheduler<Int>(limits: limits)
    struct Admitted { var number: Int, key: UInt8, isReplay: Bool }
    var waiting: [Admitted] = []
    var running: [UInt64: (key: UInt8, waits: Bool)] = [:]
    var admitted = 0
    var handed = 0
    for _ in 0..<600 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        let record = Admitted(
          number: admitted, key: UInt8.random(in: 0..<8, using: &random),
          isReplay: Int.random(in: 0..<4, using: &random) == 0)
        let bytes = Int.random(in: 1...60, using: &random)
        let hadRoom = lanes.hasRoom(for: bytes)
        let deadline = Bool.random(using: &random) ? Timestamp.second(Int64.random(in: 0...50, using: &random)) : nil
        let isIn = lanes.admit(
          record.number, key: [record.key], group: record.key < 4 ? "A" : "B", bytes: bytes, isReplay: record.isReplay,
          deadline: deadline)
        #expect(isIn == hadRoom, "seed \(seed)")
        if isIn {
          waiting.append(record)
          admitted += 1
        }
      case 2:
        guard let job = lanes.next() else {
          let isFull = running.values.count { !$0.waits } >= limits.handlers
          let busy = Set(running.values.map(\.key))
          #expect(isFull || waiting.allSatisfy { busy.contains($0.key) }, "seed \(seed): a ready record did not run")
          continue
        }
        handed += 1
        guard let record = waiting.first(where: { $0.number == job.record }) else {
          #expect(Bool(false), "seed \(seed): handed out twice or never admitted")
          continue
        }
        #expect(!running.values.contains { $0.key == record.key }, "seed \(seed): two records of one key ran")
        #expect(
          !waiting.contains { $0.key == record.key && $0.isReplay == record.isReplay && $0.number < record.number },
          "seed \(seed): out of order")
        if record.isReplay {
          #expect(!waiting.contains { $0.key == record.key && !$0.isReplay }, "seed \(seed): replay before live")
        }
        waiting.removeAll { $0.number == record.number }
        running[job.number] = (record.key, false)
      case 3:
        guard let number = running.keys.sorted().randomElement(using: &random) else { continue }
        if running[number]?.waits == true {
          lanes.resume(number)
          running[number]?.waits = false
        } else if lanes.wait(number) {
          running[number]?.waits = true
        }
      default:
        guard let number = running.keys.sorted().randomElement(using: &random) else { continue }
        lanes.decided(number)
        running[number] = nil
      }
      #expect(lanes.count == waiting.count + running.count, "seed \(seed)")
      #expect(lanes.count <= limits.records, "seed \(seed)")
      #expect(lanes.bytes <= limits.bytes || lanes.count == 1, "seed \(seed)")
      #expect(lanes.working == running.values.count { !$0.waits }, "seed \(seed)")
      check(lanes.waiting == running.values.count { $0.waits }, "seed \(seed)")
    }
    for number in running.keys { lanes.decided(number) }
    while let job = lanes.next() {
      handed += 1
      lanes.decided(job.number)
    }
    #expect(handed == admitted, "seed \(seed): lost")
    #expect((lanes.count, lanes.bytes) == (0, 0), "seed \(seed)")
  }
}
