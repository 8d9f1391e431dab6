import AppStore
import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct LedgerTests {
  private let id = LedgerKey.number(1)

  private func handled(_ state: Handled.State, at second: Int64 = 0) -> LedgerEntry {
    .handled(id, Handled(state, at: .second(second)))
  }

  @Test func `a staged entry is visible at once and is dropped with its epoch`() {
    var ledger = Ledger()
    ledger.restore(handled(.delayed(attempt: 1, delayIndex: 0)))
    ledger.stage(handled(.done(digest: 7)))
    #expect(ledger[id]?.state == .done(digest: 7))
    ledger.dropStaged()
    #expect(ledger[id]?.state == .delayed(attempt: 1, delayIndex: 0))
  }

  @Test func `an entry that is staged twice stays staged until both are settled`() {
    var ledger = Ledger()
    let entries = [handled(.delayed(attempt: 1, delayIndex: 0)), handled(.done(digest: 7))]
    for entry in entries { ledger.stage(entry) }
    ledger.settle(entries[0])
    #expect(ledger[id]?.state == .done(digest: 7))
    #expect(ledger.isStaged(.handled(id)))
    ledger.settle(entries[1])
    #expect(ledger[id]?.state == .done(digest: 7))
    #expect(!ledger.isStaged(.handled(id)))
  }

  @Test func `counters include staged entries`() {
    var ledger = Ledger()
    ledger.restore(.counter("c", 5))
    for _ in 0..<3 { ledger.stage(ledger.adding(2, to: "c")) }
    #expect(ledger.counter("c") == 11)
    ledger.dropStaged()
    #expect(ledger.counter("c") == 5)
  }

  @Test func `kept state is visible when staged, dropped with its epoch, and can be removed`() {
    var ledger = Ledger()
    ledger.restore(.keeping("s", [1], of: [1]))
    ledger.stage(.keeping("s", [2], of: [1]))
    #expect(ledger.state("s") == [2])
    ledger.dropStaged()
    #expect(ledger.state("s") == [1])
    ledger.stage(.state("s", nil))
    #expect(ledger.state("s") == nil)
    ledger.settle(.state("s", nil))
    #expect(ledger.state("s") == nil)
    #expect(!ledger.isStaged(.state("s")))
  }

  @Test func `a cancelled timer is gone at once`() {
    var ledger = Ledger()
    let timer = LaneTimer(at: .second(10), key: [1], payload: [2])
    ledger.restore(.timer("t", timer))
    #expect(ledger.timers["t"] == timer && ledger.timers.count == 1)
    ledger.stage(.timer("t", nil))
    #expect(ledger.timer("t") == nil)
    ledger.settle(.timer("t", nil))
    #expect(ledger.timers.isEmpty)
  }

  @Test func `entries expire after their horizon, delayed ones after another, staged ones never`() {
    var ledger = Ledger()
    let states: [Handled.State] = [.done(digest: 1), .delayed(attempt: 1, delayIndex: 0), .dead, .done(digest: 2)]
    for (number, state) in states.enumerated() {
      ledger.restore(.handled(.number(number), Handled(state, at: .second(0))))
    }
    let changing = LedgerEntry.handled(.number(3), Handled(.done(digest: 3), at: .second(600)))
    ledger.stage(changing)
    let gone = Set(ledger.expired(before: .second(60), delayedBefore: .second(0), parts: 256))
    #expect(gone == [.handled(.number(0), nil), .handled(.number(2), nil)])
    for entry in gone {
      ledger.stage(entry)
      ledger.settle(entry)
    }
    #expect(ledger.count == 2)
    let delayed = ledger.expired(before: .second(60), delayedBefore: .second(60), parts: 256)
    #expect(delayed == [.handled(.number(1), nil)])
  }

  @Test func `a sweep in parts examines every entry once per round`() {
    var ledger = Ledger()
    for number in 0..<2_000 { ledger.restore(.handled(.number(number), Handled(.dead, at: .second(0)))) }
    var gone: [LedgerEntry] = []
    for _ in 0..<16 { gone += ledger.expired(before: .second(600), delayedBefore: .second(0), parts: 16) }
    #expect(gone.count == 2_000)
    #expect(Set(gone).count == 2_000)
  }

  // MARK: - Effects

  @Test func `an intent is written before its effect, and only one handler performs an effect`() {
    var ledger = Ledger()
    guard case .write(let intent) = ledger.beginEffect("e", body: [1], now: .second(5)) else {
      Issue.record("nothing was written")
      return
    }
    check(ledger.beginEffect("e", body: [2], now: .second(6)) == .busy)
    ledger.stage(intent)
    ledger.settle(intent)
    guard let end = ledger.endEffect("e", result: [9]) else {
      Issue.record("no result was written")
      return
    }
    ledger.stage(end)
    check(ledger.beginEffect("e", body: [3], now: .second(7)) == .ended(result: [9]))
    ledger.dropStaged()
    check(
      ledger.beginEffect("e", body: [4], now: .second(8)) == .perform(body: [1], intendedAt: .second(5)),
      "its result was lost with the epoch, so the same bytes are sent again")
  }

  @Test func `an effect with an unknown result is performed again with the same bytes`() {
    var ledger = Ledger()
    ledger.restore(.effect("e", Effect(intendedAt: .second(1), progress: .intended(body: [7]))))
    check(ledger.beginEffect("e", body: [8], now: .second(9)) == .perform(body: [7], intendedAt: .second(1)))
    ledger.leaveEffect("e")
    check(ledger.endEffect("e", result: [1]) == nil, "no handler performs it")
    check(ledger.beginEffect("e", body: [9], now: .second(9)) == .perform(body: [7], intendedAt: .second(1)))
  }

  @Test func `a withdrawn intent counts as never written, unless the withdrawal is lost with the epoch`() {
    var ledger = Ledger()
    guard case .write(let intent) = ledger.beginEffect("e", body: [1], now: .second(5)) else {
      Issue.record("nothing was written")
      return
    }
    ledger.stage(intent)
    ledger.settle(intent)
    guard let end = ledger.withdrawEffect("e") else {
      Issue.record("the intent was not withdrawn")
      return
    }
    check(ledger.withdrawEffect("e") == nil, "no handler performs it")
    ledger.stage(end)
    check(ledger.effect("e") == nil)
    ledger.dropStaged()
    check(ledger.beginEffect("e", body: [2], now: .second(6)) == .perform(body: [1], intendedAt: .second(5)))
    if let end = ledger.withdrawEffect("e") {
      ledger.stage(end)
      ledger.settle(end)
    }
    guard case .write(let next) = ledger.beginEffect("e", body: [3], now: .second(7)) else {
      Issue.record("nothing was written")
      return
    }
    check(next == .effect("e", Effect(intendedAt: .second(7), progress: .intended(body: [3]))))
  }

  // MARK: - Property

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `the committed and the staged layer agree with a list of all entries`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var ledger = Ledger()
    var topic: [LedgerEntry] = []
    var open: [LedgerEntry] = []
    for step in 0..<300 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let entry = Self.randomEntry(step: step, using: &random)
        ledger.stage(entry)
        open.append(entry)
      case 5..<9:
        for _ in 0..<Int.random(in: 0...min(3, open.count), using: &random) {
          topic.append(open.removeFirst())
          if let entry = topic.last { ledger.settle(entry) }
        }
      default:
        ledger.dropStaged()
        open = []
      }
      for number in 0..<4 {
        let name = "n\(number)"
        let id = LedgerKey.number(number)
        let all = topic + open
        #expect(ledger[id] == Self.lastHandled(id, in: all), "seed \(seed)")
        #expect(ledger.counter(name) == Self.lastCount(name, in: all), "seed \(seed)")
      }
    }
    var restored = Ledger()
    for entry in topic { restored.restore(entry) }
    ledger.dropStaged()
    for number in 0..<4 { #expect(restored[.number(number)] == ledger[.number(number)], "seed \(seed)") }
    #expect(restored.count == ledger.count, "seed \(seed)")
  }

  private static func randomEntry(step: Int, using random: inout SeededGenerator) -> LedgerEntry {
    let number = Int.random(in: 0..<4, using: &random)
    if Bool.random(using: &random) { return .counter("n\(number)", Int64(step)) }
    let states: [Handled.State] = [.done(digest: UInt32(step)), .delayed(attempt: step, delayIndex: 3), .dead]
    return .handled(
      .number(number), states.randomElement(using: &random).map { Handled($0, at: .second(Int64(step) * 60)) })
  }

  private static func lastHandled(_ id: LedgerKey, in entries: [LedgerEntry]) -> Handled? {
    entries.last { $0.notification?.id == id }?.notification?.state
  }

  private static func lastCount(_ name: String, in entries: [LedgerEntry]) -> Int64 {
    entries.last { $0.counter?.name == name }?.counter?.count ?? 0
  }
}
