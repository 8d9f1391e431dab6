import AppStore
import AppStoreSigning
import MillraceRecords
import Testing

@testable import MillraceWorker

@Suite struct LaneDivisionTests {
  @Test(arguments: [(4, 4), (4, 6), (4, 2), (0, 4), (12, 4), (4, 13)])
  func `only a larger multiple divides lanes`(old: Int, new: Int) {
    #expect(LaneDivision(from: old, to: new) == nil)
  }

  @Test func `the parts of all lanes are all new lanes, each once`() throws {
    let division = try #require(LaneDivision(from: 4, to: 12))
    #expect(division.parts(of: 1) == [1, 5, 9])
    #expect((0..<4).flatMap { division.parts(of: $0) }.sorted() == (0..<12).map { Int32($0) })
  }

  @Test func `a record keeps its number if its partition is not that of its key`() throws {
    let division = try #require(LaneDivision(from: 4, to: 12))
    let key = Array("2000000000000001".utf8)
    let own = Murmur2.partition(of: key, among: 4)
    #expect(division.lane(of: key, in: own) == Murmur2.partition(of: key, among: 12))
    #expect(division.lane(of: key, in: (own + 1) % 4) == (own + 1) % 4)
    #expect(division.lane(of: nil, in: 3) == 3)
  }

  /// A ledger entry with the record key that it belongs to.
  private struct Written {
    var entry: LedgerEntry
    var key: [UInt8]
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `the new lane of a key knows what the old one knew, and the counters add up`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let division = try #require(LaneDivision(from: 4, to: [8, 12, 48].randomElement(using: &random) ?? 12))
    let lane = Int32.random(in: 0..<4, using: &random)
    let keys = (0..<200).map { Array("20000000000\($0)".utf8) }.filter { Murmur2.partition(of: $0, among: 4) == lane }
    var written: [Written] = []
    for number in 0..<300 {
      let key = keys.randomElement(using: &random) ?? []
      let name = String(decoding: key, as: UTF8.self)
      // Names repeat, so that later entries replace and remove earlier ones.
      let other = "\(name)/\(number % 5)"
      let isRemoval = Int.random(in: 0..<5, using: &random) == 0
      let entries: [LedgerEntry] = [
        .handled(.number(number), isRemoval ? nil : Handled(.done(digest: UInt32(number)), minute: 7)),
        .effect(other, Effect(key: key, intendedAt: .second(1), progress: .ended(result: [UInt8(number % 256)]))),
        .timer(other, isRemoval ? nil : LaneTimer(at: .second(Int64(number)), key: key, payload: [1])),
        .state(other, isRemoval ? nil : StoredState([UInt8(number % 256)], name: other, key: key)),
        .state(name, isRemoval ? nil : StoredState([UInt8(number % 256)], name: name, key: key)),
        .counter("total", Int64(number)),
        .tail(.number(number), isRemoval ? nil : .number(number + 1)),
        .erasure(.number(number), Erasure(at: .second(1), fingerprint: 1)),
        .page(
          LedgerPage.ID(value: UInt64(number)),
          LedgerPage(lines: [LedgerPage.Line(id: .number(1_000 + number), digest: 3, minute: 7)])),
        .owner("w"),
      ]
      written.append(Written(entry: entries.randomElement(using: &random) ?? .owner("w"), key: key))
    }
    var before = Ledger()
    var after: [Int32: Ledger] = [:]
    for entry in written.map(\.entry) {
      let record = LedgerRecord(entry)
      before.restore(entry)
      let lanes = try division.lanes(ofLedgerKey: record.key, value: record.value, in: lane)
      #expect(Set(lanes).isSubset(of: division.parts(of: lane)))
      for lane in lanes { try after[lane, default: Ledger()].restore(record) }
    }
    for item in written {
      let new = after[Murmur2.partition(of: item.key, among: division.new)] ?? Ledger()
      switch item.entry {
      case .handled(let id, _): #expect(new[id] == before[id])
      case .effect(let name, _): #expect(new.effect(name) == before.effect(name))
      case .timer(let name, _): #expect(new.timer(name) == before.timer(name))
      case .state(let name, _): #expect(new.state(name) == before.state(name))
      case .tail(let key, _): #expect(new.tail(of: key) == before.tail(of: key))
      case .erasure(let mark, _): #expect(new.erasure(mark) == before.erasure(mark))
      case .page(_, let page): for line in page?.lines ?? [] { #expect(new[line.id] == before[line.id]) }
      case .counter, .owner: break
      }
    }
    #expect(after.values.reduce(0) { $0 + $1.counter("total") } == before.counter("total"))
  }

  @Test func `a record that this version cannot read is an error`() throws {
    let division = try #require(LaneDivision(from: 4, to: 12))
    #expect(throws: LedgerRecordError.unknownKind(UInt8(ascii: "?"))) {
      try division.lanes(ofLedgerKey: [UInt8(ascii: "?")], value: [1], in: 0)
    }
  }
}
