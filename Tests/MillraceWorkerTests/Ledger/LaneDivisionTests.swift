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
    /// Reads what the entry is about from a ledger.
    var read: (Ledger) -> AnyHashable

    init(_ entry: LedgerEntry, of key: [UInt8], _ read: @escaping (Ledger) -> AnyHashable = { _ in 0 }) {
      (self.entry, self.key, self.read) = (entry, key, read)
    }
  }

  /// Returns a random entry. Names repeat, so that later entries replace and remove earlier ones.
  private static func written(
    _ number: Int, of key: [UInt8], using random: inout SeededGenerator
  ) -> Written {
    let name = String(decoding: key, as: UTF8.self)
    let other = "\(name)/\(number % 5)"
    let isRemoval = Int.random(in: 0..<5, using: &random) == 0
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      let handled = Handled(.done(digest: UInt32(number)), minute: 7)
      return Written(.handled(.number(number), isRemoval ? nil : handled), of: key) { $0[.number(number)] }
    case 1:
      let effect = Effect(key: key, intendedAt: .second(1), progress: .ended(result: [UInt8(number % 256)]))
      return Written(.effect(other, effect), of: key) { $0.effect(other) }
    case 2:
      let timer = LaneTimer(at: .second(Int64(number)), key: key, payload: [1])
      return Written(.timer(other, isRemoval ? nil : timer), of: key) { $0.timer(other) }
    case 3:
      let entry: LedgerEntry = isRemoval ? .state(other, nil) : .keeping(other, [UInt8(number % 256)], of: key)
      return Written(entry, of: key) { $0.state(other) }
    case 4:
      let entry: LedgerEntry = isRemoval ? .state(name, nil) : .keeping(name, [UInt8(number % 256)], of: key)
      return Written(entry, of: key) { $0.state(name) }
    case 5: return Written(.counter("total", Int64(number)), of: key)
    case 6:
      let last = LedgerKey.number(number + 1)
      return Written(.tail(.number(number), isRemoval ? nil : last), of: key) { $0.tail(of: .number(number)) }
    case 7:
      let erasure = Erasure(at: .second(1), fingerprint: 1)
      return Written(.erasure(.number(number), erasure), of: key) { $0.erasure(.number(number)) }
    case 8:
      let line = LedgerPage.Line(id: .number(1_000 + number), digest: 3, minute: 7)
      return Written(.page(LedgerPage.ID(value: UInt64(number)), LedgerPage(lines: [line])), of: key) { $0[line.id] }
    default: return Written(.owner("w"), of: key)
    }
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `the new lane of a key knows what the old one knew, and the counters add up`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let division = try #require(LaneDivision(from: 4, to: [8, 12, 48].randomElement(using: &random) ?? 12))
    let lane = Int32.random(in: 0..<4, using: &random)
    let keys = (0..<200).map { Array("20000000000\($0)".utf8) }.filter { Murmur2.partition(of: $0, among: 4) == lane }
    let written = (0..<300).map { Self.written($0, of: keys.randomElement(using: &random) ?? [], using: &random) }
    var before = Ledger()
    var after: [Int32: Ledger] = [:]
    for item in written {
      let record = EntryRecord(item.entry)
      before.restore(item.entry)
      let lanes = try division.lanes(ofLedgerKey: record.key, value: record.value, in: lane)
      #expect(Set(lanes).isSubset(of: division.parts(of: lane)))
      for lane in lanes { try record.restore(to: &after[lane, default: Ledger()]) }
    }
    for item in written {
      let new = after[Murmur2.partition(of: item.key, among: division.new)] ?? Ledger()
      #expect(item.read(new) == item.read(before))
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
