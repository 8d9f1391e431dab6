import AppStore
import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct TimerTableTests {
  @Test(arguments: 0..<60 as Range<UInt64>)
  func `a table agrees with a dictionary`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = TimerTable()
    var model: [String: LaneTimer] = [:]
    var waits: [String: Int64] = [:]
    let names = (0..<Int.random(in: 1...500, using: &random)).map {
      $0.isMultiple(of: 2) ? "timer/\($0)" : "20000000000\($0)"
    }
    var now: Int64 = 0
    for step in 0..<4_000 {
      let name = names.randomElement(using: &random) ?? ""
      switch Int.random(in: 0..<8, using: &random) {
      case 0:
        table[name] = nil
        (model[name], waits[name]) = (nil, nil)
      case 1 where model[name] != nil:
        let until = now + Int64.random(in: -5...50, using: &random)
        table.postpone(name, until: Timestamp(millisecondsSince1970: until))
        waits[name] = max(until, model[name]?.due.millisecondsSince1970 ?? until)
      case 2...4:
        let timer = LaneTimer(
          at: Timestamp(millisecondsSince1970: now + Int64.random(in: -10...100, using: &random)),
          key: Bool.random(using: &random) ? Array(name.utf8) : [7, 8],
          payload: [UInt8](repeating: 9, count: .random(in: 0...3, using: &random)),
          failures: Int.random(in: 0..<3, using: &random) > 0
            ? nil
            : TimerFailures(
              attempts: .random(in: 1...20, using: &random),
              due: Timestamp(millisecondsSince1970: now + Int64.random(in: -10...100, using: &random))))
        table[name] = timer
        (model[name], waits[name]) = (timer, timer.due.millisecondsSince1970)
      default:
        now += Int64.random(in: 0...10, using: &random)
        let time = Timestamp(millisecondsSince1970: now)
        for name in table.takeDue(at: time, upTo: .random(in: 0...40, using: &random)) where model[name] != nil {
          #expect(waits[name].map { $0 <= now } ?? false, "seed \(seed), step \(step): \(name) is not due")
          waits[name] = nil
        }
        let next = waits.values.min()
        if let next {
          #expect(
            table.nextDue.map { $0.millisecondsSince1970 <= max(next, now) } ?? false, "seed \(seed), step \(step)")
        }
      }
      #expect(table.count == model.count && table[name] == model[name], "seed \(seed), step \(step)")
      #expect(table.failingCount == model.values.count { $0.failures != nil }, "seed \(seed), step \(step)")
    }
    // Everything comes once, and again only after it was released.
    let end = Timestamp(millisecondsSince1970: now + 1_000)
    var taken = Set(table.takeDue(at: end, upTo: .max)).intersection(model.keys)
    #expect(taken == Set(waits.keys), "seed \(seed)")
    #expect(table.takeDue(at: end, upTo: .max).isEmpty, "seed \(seed)")
    #expect(table.nextDue.map { $0 > end } ?? true, "seed \(seed)")
    table.release()
    taken = Set(table.takeDue(at: end, upTo: .max))
    #expect(taken == Set(model.keys), "seed \(seed)")
  }

  @Test func `due timers come in the order of their times`() {
    var table = TimerTable()
    for number in (0..<500).reversed() {
      table["\(number)"] = LaneTimer(at: .second(Int64(number)), key: [], payload: [])
    }
    #expect(table.nextDue == .second(0))
    #expect(table.takeDue(at: .second(2), upTo: 2) == ["0", "1"])
    #expect(table.takeDue(at: .second(99), upTo: .max) == (2..<100).map { "\($0)" })
    #expect(table.nextDue == .second(100))
  }

  @Test(arguments: [.min, -1, 0, 1 << 48 - 1, 1 << 48, .max] as [Int64], [[], Array("t".utf8), [7]] as [[UInt8]])
  func `a timer keeps every time`(at: Int64, key: [UInt8]) throws {
    let timer = LaneTimer(at: Timestamp(millisecondsSince1970: at), key: key, payload: [1, 2, 3])
    var table = TimerTable()
    table["t"] = timer
    #expect(table["t"] == timer)
    var restored = Ledger()
    try EntryRecord(.timer("t", timer)).restore(to: &restored)
    #expect(restored.timers["t"] == timer)
  }

  @Test func `a timer whose key is its name takes at most 36 bytes`() {
    var table = TimerTable()
    let count = 200_000
    for round in 0..<3 {
      for number in 0..<count {
        let name = "\(2_000_000_000_000_000 + number)"
        table[name] = LaneTimer(at: .second(Int64(number + round)), key: Array(name.utf8), payload: [])
      }
    }
    let each = table.bytes / count
    #expect(each <= 36, "\(each)")
    print("timer table: \(each) bytes for a timer with a name of 16 bytes")
  }
}
