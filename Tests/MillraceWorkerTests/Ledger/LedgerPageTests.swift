import AppStore
import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct LedgerPageTests {
  private func done(_ number: Int, at second: Int64 = 0, digest: UInt32 = 7) -> LedgerEntry {
    .handled(.number(number), Handled(.done(digest: digest), at: .second(second)))
  }

  @Test func `new done entries of one commit share a page, other entries have their own records`() {
    var ledger = Ledger()
    ledger.restore(.handled(.number(1), Handled(.delayed(attempt: 1, delayIndex: 0), at: .second(0))))
    var entries = (0..<30).map { done($0) }
    entries.append(.counter("c", 1))
    entries.append(.handled(.number(2), Handled(.dead, at: .second(0))))
    let (page, rest) = ledger.paged(entries)
    #expect(page?.lines.map(\.id) == ([0] + Array(3..<30)).map { LedgerKey.number($0) })
    #expect(Set(rest) == [done(1), done(2), .counter("c", 1), .handled(.number(2), Handled(.dead, at: .second(0)))])
  }

  @Test func `a few entries have their own records`() {
    let entries = (0..<LedgerPage.fewest - 1).map { done($0) }
    let (page, rest) = Ledger().paged(entries)
    #expect(page == nil)
    #expect(rest == entries)
  }

  @Test func `a page is removed with one tombstone for all of its entries`() {
    var ledger = Ledger()
    let lines = (0..<100).map { LedgerPage.Line(id: .number($0), digest: 1, minute: Handled.minute(of: .second(0))) }
    let id = LedgerPage.ID(at: .second(0), 5)
    ledger.restore(.page(id, LedgerPage(lines: lines)))
    ledger.restore(done(200))
    // This notification ran again, so its newest entry is a separate record.
    ledger.restore(done(3, digest: 2))
    #expect(ledger.count == 101)
    #expect(ledger[.number(50)]?.state == .done(digest: 1))
    let gone = ledger.expired(before: .second(600), delayedBefore: .second(0), parts: 256)
    #expect(Set(gone) == [.page(id, nil), .handled(.number(200), nil), .handled(.number(3), nil)])
    for entry in gone { ledger.stage(entry) }
    #expect(ledger.expired(before: .second(600), delayedBefore: .second(0), parts: 256).isEmpty)
    for entry in gone { ledger.settle(entry) }
    #expect(ledger.count == 0)
    #expect(!ledger.isStaged(.handled(.number(200))))
    let later = ledger.expired(before: .second(6_000), delayedBefore: .second(0), parts: 256)
    #expect(later.isEmpty, "the page is forgotten too")
  }

  @Test func `the binary format is fixed, so later versions can read it`() {
    let line = LedgerPage.Line(id: LedgerKey(high: 1, low: 2), digest: 0x0A0B_0C0D, minute: 0x0102)
    let record = EntryRecord(.page(LedgerPage.ID(value: 0x0102), LedgerPage(lines: [line])))
    #expect(record.key == [0x70, 0, 0, 0, 0, 0, 0, 1, 2])
    #expect(
      record.value == [1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 2] + [0, 0, 1, 2, 0x0A, 0x0B, 0x0C, 0x0D])
  }

  /// Runs random commits, sweeps and compactions. A ledger that is restored from the topic must agree with the lane's
  /// ledger about all entries within the horizon, and must not contradict it about older ones.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `a restored ledger agrees with the lane's ledger, even after compaction`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var live = Ledger()
    var log: [EntryRecord] = []
    var known: Set<Int> = []
    for step in 0..<60 {
      let now = Int64(step) * 60
      let horizon = Timestamp.second(now - 20 * 60)
      var entries: [LedgerEntry] = []
      for _ in 0..<Int.random(in: 0...40, using: &random) {
        let number = Int.random(in: 0..<600, using: &random)
        known.insert(number)
        let state: Handled.State =
          switch Int.random(in: 0..<12, using: &random) {
          case 0: .delayed(attempt: 1, delayIndex: 0)
          case 1: .dead
          default: .done(digest: UInt32(step))
          }
        entries.append(.handled(.number(number), Handled(state, at: .second(now))))
      }
      if step.isMultiple(of: 3) {
        entries += live.expired(before: horizon, delayedBefore: horizon, parts: Int.random(in: 1...256, using: &random))
      }
      for entry in entries { live.stage(entry) }
      let (page, rest) = live.paged(entries)
      log += rest.map { EntryRecord($0) }
      let entry = page.map { LedgerEntry.page(LedgerPage.ID(at: .second(now), UInt32(step)), $0) }
      if let entry { log.append(EntryRecord(entry)) }
      live.unstage(entries)
      for entry in rest { live.restore(entry) }
      if let entry { live.restore(entry) }
      if Int.random(in: 0..<8, using: &random) == 0 { log = Self.compacted(log, keepsTombstones: step % 2 == 0) }
      var restored = Ledger()
      for record in log { restored.restore(try record.entry()) }
      for number in known {
        let (was, now) = (live[.number(number)], restored[.number(number)])
        guard was?.state != now?.state else { continue }
        let youngest = max(was?.minute ?? 0, now?.minute ?? 0)
        #expect(youngest < Handled.minute(of: horizon), "seed \(seed), step \(step)")
        #expect(was == nil || now == nil, "seed \(seed), step \(step)")
      }
    }
  }

  private static func compacted(_ log: [EntryRecord], keepsTombstones: Bool) -> [EntryRecord] {
    var seen: Set<[UInt8]> = []
    return log.reversed().filter { seen.insert($0.key).inserted && (keepsTombstones || $0.value != nil) }.reversed()
  }
}
