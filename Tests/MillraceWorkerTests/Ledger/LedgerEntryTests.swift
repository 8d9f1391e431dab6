import AppStore
import AppStoreSigning
import KafkaClient
import Testing

@testable import MillraceWorker

@Suite struct LedgerEntryTests {
  private static let entries: [LedgerEntry] = [
    .handled(.number(1), Handled(.done(digest: 0xDEAD_BEEF), minute: 29_453_760)),
    .handled(.number(2), Handled(.delayed(attempt: 3, delayIndex: 4), minute: 0)),
    .handled(.number(3), Handled(.dead, minute: Handled.lastMinute)), .handled(.number(4), nil),
    .handled(.number(4), Handled(.delayed(attempt: 1, delayIndex: nil), minute: 1)),
    .effect("extend/c/1", Effect(intendedAt: .second(-1), progress: .intended(body: []))),
    .effect("é", Effect(intendedAt: .second(1), progress: .ended(result: [0, 255]))),
    .effect("é", nil), .timer("t", LaneTimer(at: .second(1), key: [1, 2], payload: [3])), .timer("", nil),
    .counter("c", -5), .counter("c", nil), .tail(.number(5), .number(6)), .tail(.number(5), nil),
    .owner("worker-7"), .owner(""), .owner(nil),
    .keeping("entitlement/1", [1, 0, 255], of: [1, 2]),
    .keeping("s", [], of: Array("s".utf8)), .state("s", nil),
    .effect("k", Effect(key: [1, 2], intendedAt: .second(1), progress: .ended(result: [3]))),
    .erasure(.number(7), Erasure(at: .second(1), fingerprint: 0xDEAD_BEEF)), .erasure(.number(7), nil),
  ]

  @Test(arguments: entries)
  func `an entry is read back as it was written`(entry: LedgerEntry) throws {
    #expect(try EntryRecord(entry).entry() == entry)
  }

  @Test(arguments: entries)
  func `a restored ledger has the value that was written`(entry: LedgerEntry) throws {
    var ledger = Ledger()
    try EntryRecord(entry).restore(to: &ledger)
    let name = entry.name
    switch name.kind {
    case .handled: #expect(ledger[name.digest] == entry.content())
    case .effect: #expect(ledger.effect(name.text) == entry.content())
    case .timer: #expect(ledger.timer(name.text) == entry.content())
    case .counter: #expect(ledger.counter(name.text) == entry.content() ?? 0)
    case .tail: #expect(ledger.tail(of: name.digest) == entry.content())
    case .state: #expect(ledger.state(name.text) == entry.content(as: StoredState.self)?.value)
    case .erasure: #expect(ledger.erasure(name.digest) == entry.content())
    case .page, .owner: break
    }
  }

  @Test func `values are what was given`() throws {
    let (key, failures) = ([1, 2] as [UInt8], TimerFailures(attempts: 65_535, due: .second(-1)))
    let timer = LaneTimer(at: .second(1), key: key, payload: [3], failures: failures)
    #expect(LedgerEntry.timer("t", timer).content() == timer)
    let own = LaneTimer(at: .second(1), key: Array("t".utf8), payload: [])
    #expect(LedgerEntry.timer("t", own).content() == own)
    let effect = Effect(key: key, intendedAt: .second(-1), progress: .ended(result: [0, 255]))
    #expect(LedgerEntry.effect("e", effect).content() == effect)
    let state = StoredState([9], key: key)
    #expect(LedgerEntry.state("s", state).content() == state)
    #expect(LedgerEntry.state("s", StoredState([9], key: Array("s".utf8))).recordKey == Array("s".utf8)[...])
    let handled = Handled(.delayed(attempt: 65_535, delayIndex: 65_534), minute: 1)
    #expect(LedgerEntry.handled(.number(1), handled).content() == handled)
    #expect(LedgerEntry.counter("c", .min).content() == Int64.min)
    #expect(LedgerEntry.counter("c", 1).content(as: LedgerKey.self) == nil, "it is of another kind")
    let page = LedgerPage(lines: [LedgerPage.Line(id: .number(1), digest: 2, minute: 3)])
    #expect(LedgerEntry.page(LedgerPage.ID(value: 5), page).content() == page)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `a ledger restored from records is the one restored from their entries, and refuses the same`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (direct, decoded) = (Ledger(), Ledger())
    let names = ["2000000000000001", "2000000000000002", "entitlement/1", "é", "t"]
    func bytes(_ most: Int) -> [UInt8] {
      (0..<Int.random(in: 0...most, using: &random)).map { _ in .random(in: 0...255, using: &random) }
    }
    for step in 0..<60 {
      let name = names.randomElement(using: &random) ?? ""
      let key = Bool.random(using: &random) ? Array(name.utf8) : bytes(20)
      var timer = LaneTimer(at: .second(Int64.random(in: 0...9, using: &random)), key: key, payload: bytes(9))
      if Int.random(in: 0..<4, using: &random) == 0 {
        timer.failures = TimerFailures(attempts: step + 1, due: .second(99))
      }
      let isRemoval = Int.random(in: 0..<4, using: &random) == 0
      var record = EntryRecord(
        Bool.random(using: &random)
          ? isRemoval ? .state(name, nil) : .keeping(name, bytes(300), of: key)
          : .timer(name, isRemoval ? nil : timer))
      // Some are damaged: cut off, of another version or with another byte.
      if Int.random(in: 0..<5, using: &random) == 0, var value = record.value {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: value.removeLast(.random(in: 0...value.count, using: &random))
        case 1: value[0] = 2
        default: value[.random(in: 0..<value.count, using: &random)] = .random(in: 0...255, using: &random)
        }
        record.value = value
      }
      let refusal = Result { () throws(LedgerRecordError) in decoded.restore(try record.entry()) }
      let own = Result { () throws(LedgerRecordError) in try record.restore(to: &direct) }
      #expect(own.failure == refusal.failure, "seed \(seed), step \(step): \(record)")
      #expect(direct.timers.failingCount == decoded.timers.failingCount, "seed \(seed), step \(step)")
      for name in names {
        #expect(direct.state(name) == decoded.state(name), "seed \(seed), step \(step): \(name)")
        #expect(direct.timer(name) == decoded.timer(name), "seed \(seed), step \(step): \(name)")
      }
      #expect(direct.timers.nextDue == decoded.timers.nextDue, "seed \(seed), step \(step)")
    }
  }

  @Test func `the binary format is fixed, so later versions can read it`() {
    let done = EntryRecord(.handled(LedgerKey(high: 1, low: 2), Handled(.done(digest: 0x0A0B_0C0D), minute: 0x0102)))
    #expect(done.key == [0x68, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2])
    #expect(done.value == [1, 1, 0, 0, 1, 2, 0x0A, 0x0B, 0x0C, 0x0D])
    let delayed = EntryRecord(
      .handled(LedgerKey(high: 1, low: 2), Handled(.delayed(attempt: 3, delayIndex: 4), minute: 1)))
    #expect(delayed.value == [1, 2, 0, 0, 0, 1, 0, 3, 0, 4])
    #expect(
      EntryRecord(.counter("ab", 7)) == EntryRecord(key: [0x63, 0x61, 0x62], value: [1, 0, 0, 0, 0, 0, 0, 0, 7]))
    #expect(EntryRecord(.keeping("a", [9], of: [0x61])) == EntryRecord(key: [0x73, 0x61], value: [1, 0, 9]))
    #expect(EntryRecord(.keeping("a", [9], of: [0x62, 0x63])).value == [1, 1, 0, 0, 0, 2, 0x62, 0x63, 9])
    #expect(
      EntryRecord(.erasure(LedgerKey(high: 1, low: 2), Erasure(at: .second(1), fingerprint: 5))).key == [0x78]
        + done.key.dropFirst())
    #expect(EntryRecord(.owner("a")) == EntryRecord(key: [0x6F], value: [1, 0x61]))
    // The flags of key and failures, the doubled time with seven bits in a byte, failures, key, payload.
    var timer = LaneTimer(at: Timestamp(millisecondsSince1970: 200), key: [0x61], payload: [9])
    #expect(EntryRecord(.timer("a", timer)) == EntryRecord(key: [0x74, 0x61], value: [2, 0, 0x90, 3, 9]))
    timer.key = [7]
    timer.failures = TimerFailures(attempts: 3, due: Timestamp(millisecondsSince1970: -1))
    #expect(EntryRecord(.timer("a", timer)).value == [2, 3, 0x90, 3, 0, 3, 1, 0, 0, 0, 1, 7, 9])
    let intent = Effect(key: [7], intendedAt: Timestamp(millisecondsSince1970: 258), progress: .intended(body: [9]))
    #expect(
      EntryRecord(.effect("a", intent))
        == EntryRecord(key: [0x65, 0x61], value: [1, 1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 7, 9]))
  }

  @Test func `fields that a later version appends are ignored`() throws {
    var record = EntryRecord(.handled(.number(1), Handled(.dead, minute: 5)))
    record.value?.append(99)
    #expect(try record.entry().content() == Handled(.dead, minute: 5))
  }

  @Test func `the error for an unreadable record names the reason`() {
    func error(_ key: [UInt8], _ value: [UInt8]?) -> LedgerRecordError? {
      #expect(throws: LedgerRecordError.self) { try EntryRecord(key: key, value: value).entry() }
    }
    #expect(error([], nil) == .unknownKind(nil))
    #expect(error([0x7A], [1]) == .unknownKind(0x7A))
    #expect(error([0x63, 0x61], [2, 0, 0, 0, 0, 0, 0, 0, 7]) == .unknownVersion(2))
    #expect(error([0x63, 0x61], [1, 0]) == .malformed)
    #expect(error([0x63, 0xFF], [1, 0, 0, 0, 0, 0, 0, 0, 7]) == .malformed)
    #expect(error([0x68, 1], nil) == .malformed)
    #expect(error([0x65, 0x61], []) == .malformed)
    #expect(error([0x68] + LedgerKey.number(1).bytes, [1, 9, 0, 0, 0, 0]) == .malformed)
    #expect(error([0x74], [2, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF]) == .malformed)
    #expect(error([0x74], [2, 4, 0]) == .malformed, "a flag of a later version")
    #expect(error([0x74], [2, 0] + [UInt8](repeating: 0x80, count: 11)) == .malformed)
    #expect(error([0x74], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) == .unknownVersion(1))
    #expect(error([0x70, 0, 0, 0, 0, 0, 0, 0, 1], [1] + [UInt8](repeating: 0, count: 23)) == .malformed)
  }

  @Test(arguments: 0..<2_000 as Range<UInt64>)
  func `random bytes do not crash the decoder`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var record = EntryRecord(Self.entries.randomElement(using: &random) ?? .counter("c", 1))
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: record.value = record.value.map { Array($0.dropLast(Int.random(in: 0...$0.count, using: &random))) }
      case 1: record.key = Array(record.key.dropLast(Int.random(in: 0...record.key.count, using: &random)))
      default:
        if let index = record.value?.indices.randomElement(using: &random) {
          record.value?[index] = UInt8.random(in: 0...255, using: &random)
        }
      }
    }
    do {
      let entry = try record.entry()
      #expect(try EntryRecord(entry).entry() == entry, "seed \(seed)")
    } catch {
      #expect(!error.description.isEmpty)
    }
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
