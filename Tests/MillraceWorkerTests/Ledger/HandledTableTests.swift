import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct HandledTableTests {
  @Test(arguments: [50_000, 71_313, 100_000, 199_999])
  func `an entry uses at most 32 bytes, including its share of free slots`(count: Int) {
    var table = HandledTable()
    for number in 0..<count {
      table[.number(number)] = Handled(.done(digest: UInt32(number)), minute: 1)
      if number > 50_000, number.isMultiple(of: 997) { #expect(table.bytes <= 32 * table.count) }
    }
    #expect(table.count == count)
    #expect(table.bytes <= 32 * count)
  }

  @Test func `removed entries release memory`() {
    var table = HandledTable()
    for number in 0..<100_000 { table[.number(number)] = Handled(.dead, minute: 1) }
    let full = table.bytes
    for number in 0..<90_000 { table[.number(number)] = nil }
    #expect(table.count == 10_000)
    #expect(table.bytes < full / 4)
    for number in 90_000..<100_000 { #expect(table[.number(number)] == Handled(.dead, minute: 1)) }
  }

  @Test func `every state is stored without loss`() {
    var table = HandledTable()
    let values = [
      Handled(.done(digest: .max), minute: Handled.lastMinute), Handled(.done(digest: 0), minute: 0),
      Handled(.delayed(attempt: 0, delayIndex: 0), minute: 1),
      Handled(.delayed(attempt: 65_535, delayIndex: 65_534), minute: 2),
      Handled(.delayed(attempt: 1, delayIndex: nil), minute: 2),
      Handled(.dead, minute: 3),
    ]
    for (number, value) in values.enumerated() { table[.number(number)] = value }
    for (number, value) in values.enumerated() { #expect(table[.number(number)] == value) }
  }

  /// Uses few home slots and many neighbours, because they provoke errors in linear probing.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `the table agrees with a dictionary, even if IDs collide`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = HandledTable()
    var model: [LedgerKey: Handled] = [:]
    let homes: [UInt64] = [0, 1, .max, .max - 1, .max / 2, 1 << 60]
    for step in 0..<600 {
      let id = LedgerKey(
        high: UInt64.random(in: 0..<24, using: &random),
        low: Bool.random(using: &random)
          ? homes[Int.random(in: 0..<homes.count, using: &random)] : UInt64.random(in: .min ... .max, using: &random))
      let target =
        Bool.random(using: &random)
        ? id
        : model.keys.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
          .randomElement(using: &random) ?? id
      let value = Int.random(in: 0..<5, using: &random) < 2 ? nil : Handled(.done(digest: UInt32(step)), minute: 5)
      table[target] = value
      model[target] = value
      #expect(table.count == model.count, "seed \(seed)")
    }
    for (id, value) in model { #expect(table[id] == value, "seed \(seed)") }
    for high in 0..<24 as Range<UInt64> {
      for low in homes {
        #expect(table[.init(high: high, low: low)] == model[.init(high: high, low: low)], "seed \(seed)")
      }
    }
    let all = table.nextCandidates(parts: 256) { _ in true }
    #expect(Set(all) == Set(model.keys), "seed \(seed)")
  }
}
