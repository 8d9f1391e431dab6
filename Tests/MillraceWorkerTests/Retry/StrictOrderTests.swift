import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct StrictOrderTests {
  private let key = LedgerKey.number(100)
  private let retry = Arrival.retry(attempt: 0, reapplying: false)

  private func delay(_ ledger: inout Ledger, _ number: Int, attempt: Int, delayIndex: Int) {
    let handled = Handled(.delayed(attempt: attempt, delayIndex: delayIndex), minute: 1)
    for entry in ledger.entries(delaying: .number(number), key: key, as: handled) { ledger.stage(entry) }
  }

  private func resolve(_ ledger: inout Ledger, _ number: Int, as state: Handled.State) {
    for entry in ledger.entries(resolving: .number(number), key: key, as: Handled(state, minute: 1)) {
      ledger.stage(entry)
    }
  }

  @Test func `every record waits for the record of its key before it`() {
    var ledger = Ledger()
    delay(&ledger, 1, attempt: 1, delayIndex: 0)
    #expect(
      ledger.predecessor(of: .number(2), key: key, arriving: .live, behind: nil)
        == Predecessor(id: .number(1), delayIndex: 0))
    delay(&ledger, 2, attempt: 0, delayIndex: 0)
    #expect(
      ledger.predecessor(of: .number(3), key: key, arriving: .live, behind: nil)
        == Predecessor(id: .number(2), delayIndex: 0))
    #expect(ledger.predecessor(of: .number(1), key: key, arriving: retry, behind: nil) == nil)
  }

  @Test func `a waiting record follows its predecessor to the next retry delay`() {
    var ledger = Ledger()
    delay(&ledger, 1, attempt: 1, delayIndex: 0)
    delay(&ledger, 2, attempt: 0, delayIndex: 0)
    delay(&ledger, 1, attempt: 2, delayIndex: 1)
    #expect(
      ledger.predecessor(of: .number(2), key: key, arriving: retry, behind: .number(1))
        == Predecessor(id: .number(1), delayIndex: 1))
    #expect(ledger.tail(of: key) == .number(2))
  }

  @Test(arguments: [Handled.State.dead, .done(digest: 1)])
  func `a dead letter releases its key like a handled record`(state: Handled.State) {
    var ledger = Ledger()
    delay(&ledger, 1, attempt: 1, delayIndex: 0)
    resolve(&ledger, 1, as: state)
    #expect(ledger.predecessor(of: .number(2), key: key, arriving: .live, behind: nil) == nil)
    #expect(ledger.tail(of: key) == nil)
  }

  @Test func `a reapplied notification does not wait`() {
    var ledger = Ledger()
    ledger.restore(.handled(.number(9), Handled(.done(digest: 1), minute: 1)))
    delay(&ledger, 1, attempt: 1, delayIndex: 0)
    #expect(ledger.predecessor(of: .number(9), key: key, arriving: .reapply, behind: nil) == nil)
    #expect(ledger.predecessor(of: .number(8), key: key, arriving: .reapply, behind: nil)?.id == .number(1))
  }

  @Test func `a requeued dead letter does not wait, and no record waits for it`() {
    var ledger = Ledger()
    delay(&ledger, 1, attempt: 1, delayIndex: 0)
    delay(&ledger, 2, attempt: 0, delayIndex: 0)
    resolve(&ledger, 1, as: .dead)
    #expect(ledger.predecessor(of: .number(1), key: key, arriving: .requeue(reapplying: false), behind: nil) == nil)
    let outside = Handled(.delayed(attempt: 1, delayIndex: nil), minute: 1)
    for entry in ledger.entries(delaying: .number(1), key: key, as: outside) { ledger.stage(entry) }
    #expect(
      ledger.predecessor(of: .number(2), key: key, arriving: retry, behind: .number(1)) == nil,
      "it would wait for a record that came after it")
    #expect(ledger.tail(of: key) == .number(2))
  }

  @Test func `no record waits for a lost copy, and a resent one does not wait for its successors`() {
    var ledger = Ledger()
    delay(&ledger, 1, attempt: 1, delayIndex: 0)
    delay(&ledger, 2, attempt: 0, delayIndex: 0)
    delay(&ledger, 3, attempt: 0, delayIndex: 0)
    for arrival in [.live, .replay, .reapply] as [Arrival] {
      #expect(ledger.predecessor(of: .number(1), key: key, arriving: arrival, behind: nil) == nil, "\(arrival)")
      #expect(ledger.predecessor(of: .number(4), key: key, arriving: arrival, behind: nil)?.id == .number(3))
      #expect(
        ledger.predecessor(of: .number(4), key: key, arriving: arrival, behind: nil) { _ in true } == nil, "\(arrival)")
    }
    #expect(ledger.predecessor(of: .number(2), key: key, arriving: retry, behind: .number(1))?.id == .number(1))
    #expect(ledger.predecessor(of: .number(2), key: key, arriving: retry, behind: .number(1)) { _ in true } == nil)
    // The record is delayed again at its place, so the end of the chain is unchanged.
    delay(&ledger, 1, attempt: 2, delayIndex: 1)
    #expect(ledger.tail(of: key) == .number(3))
  }

  /// Notifications of one key fail at random and are delayed by random retry delays. They must still end in order.
  @Test(arguments: 0..<500 as Range<UInt64>)
  func `all records of a key end, in order`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var ledger = Ledger()
    var arrived = 0
    var waiting: [(number: Int, attempt: Int, delayIndex: Int, behind: LedgerKey?)] = []
    var ended: [Int] = []
    for step in 0..<2_000 {
      let number: Int
      let attempt: Int
      let arrival: Arrival
      let behind: LedgerKey?
      if arrived < 10, waiting.isEmpty || Int.random(in: 0..<4, using: &random) == 0 {
        (number, attempt, arrival, behind) = (arrived, 0, .live, nil)
        arrived += 1
      } else if !waiting.isEmpty {
        // Each retry delay is in order. The next retry delay is random.
        let delayIndex = waiting.map(\.delayIndex).randomElement(using: &random)
        guard let index = waiting.firstIndex(where: { $0.delayIndex == delayIndex }) else { continue }
        let record = waiting.remove(at: index)
        (number, attempt, behind) = (record.number, record.attempt, record.behind)
        arrival = .retry(attempt: attempt, reapplying: false)
      } else {
        break
      }
      guard ledger.verdict(for: .number(number), arriving: arrival) == .run(attempt: attempt) else {
        Issue.record("seed \(seed): \(number) did not run")
        continue
      }
      if let before = ledger.predecessor(of: .number(number), key: key, arriving: arrival, behind: behind) {
        delay(&ledger, number, attempt: attempt, delayIndex: before.delayIndex)
        waiting.append((number, attempt, before.delayIndex, before.id))
      } else if step < 1_500, Int.random(in: 0..<3, using: &random) == 0 {
        let delayIndex = Int.random(in: 0..<4, using: &random)
        delay(&ledger, number, attempt: attempt + 1, delayIndex: delayIndex)
        waiting.append((number, attempt + 1, delayIndex, nil))
      } else {
        resolve(&ledger, number, as: Bool.random(using: &random) ? .dead : .done(digest: 1))
        ended.append(number)
      }
    }
    #expect(ended == Array(0..<10), "seed \(seed)")
    #expect(ledger.tail(of: key) == nil, "seed \(seed)")
  }
}
