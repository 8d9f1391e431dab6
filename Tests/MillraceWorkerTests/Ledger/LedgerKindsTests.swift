// Tests that entries of every kind are staged, settled, dropped and restored alike.

import AppStore
import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct LedgerKindsTests {
  private static let names = ["2000000000000001", "entitlement/1", "é", "", "0001"]
  /// Digests like the keys that a table makes of numbers, and like numbers.
  private static let digests = [
    LedgerKey(high: .max, low: 1), LedgerKey(high: 0x3131_3131_3131_3131, low: 0x3131_3131_3131_3131), .number(1),
  ]

  private static func entry(_ step: Int, using random: inout SeededGenerator) -> LedgerEntry {
    let name = names.randomElement(using: &random) ?? ""
    let digest = digests.randomElement(using: &random) ?? .number(0)
    let isRemoval = Int.random(in: 0..<4, using: &random) == 0
    let key = Bool.random(using: &random) ? Array(name.utf8) : [UInt8(step % 256)]
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      let effect = Effect(key: key, intendedAt: .second(1), progress: .ended(result: [UInt8(step % 256)]))
      return .effect(name, isRemoval ? nil : effect)
    case 1: return .timer(name, isRemoval ? nil : LaneTimer(at: .second(Int64(step)), key: key, payload: [7]))
    case 2: return .counter(name, isRemoval ? nil : Int64(step))
    case 3: return .tail(digest, isRemoval ? nil : .number(step))
    case 4: return isRemoval ? .state(name, nil) : .keeping(name, [UInt8](repeating: 1, count: step % 40), of: key)
    default: return .erasure(digest, isRemoval ? nil : Erasure(at: .second(Int64(step)), fingerprint: UInt32(step)))
    }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `a ledger has the last entry of every name, and the last one in Kafka after its epoch`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var ledger = Ledger()
    var (topic, open): ([LedgerEntry], [LedgerEntry]) = ([], [])
    for step in 0..<200 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        open.append(Self.entry(step, using: &random))
        if let entry = open.last { ledger.stage(entry) }
      case 5..<9:
        for _ in 0..<Int.random(in: 0...min(3, open.count), using: &random) {
          topic.append(open.removeFirst())
          if let entry = topic.last { ledger.settle(entry) }
        }
      default:
        ledger.dropStaged()
        open = []
      }
      Self.compare(ledger, with: topic + open, "seed \(seed), step \(step)")
      #expect(Set(open.map(\.name)).allSatisfy(ledger.isStaged), "seed \(seed), step \(step)")
    }
    var restored = Ledger()
    for entry in topic { try EntryRecord(entry).restore(to: &restored) }
    Self.compare(restored, with: topic, "seed \(seed), restored")
    #expect(restored.erasureFingerprints == Self.fingerprints(topic), "seed \(seed)")
    #expect(restored.hasErasures == !Self.fingerprints(topic).isEmpty, "seed \(seed)")
  }

  private static func compare(_ ledger: Ledger, with entries: [LedgerEntry], _ comment: Comment) {
    var last: [LedgerEntry.Name: LedgerEntry] = [:]
    for entry in entries { last[entry.name] = entry }
    for (name, entry) in last { #expect(ledger.fields(name) == entry.fields, comment) }
  }

  private static func fingerprints(_ entries: [LedgerEntry]) -> Set<UInt32> {
    var last: [LedgerEntry.Name: UInt32] = [:]
    for entry in entries where entry.name.kind == .erasure {
      last[entry.name] = entry.content(as: Erasure.self)?.fingerprint
    }
    return Set(last.values)
  }

  @Test func `an intent that an earlier owner writes late does not replace a result`() {
    var ledger = Ledger()
    let intent = LedgerEntry.effect("e", Effect(intendedAt: .second(1), progress: .intended(body: [1])))
    let ended = Effect(intendedAt: .second(1), progress: .ended(result: [2]))
    for entry in [intent, .effect("e", ended), intent] { ledger.restore(entry) }
    #expect(ledger.effect("e") == ended)
    ledger.restore(.effect("e", nil))
    #expect(ledger.effect("e") == nil)
  }

  @Test func `an effect takes little more memory than its name, key and result`() {
    var table = CompactTable()
    let count = 100_000
    for number in 0..<count {
      let name = "extend/campaign/\(2_000_000_000_000_000 + number)"
      let effect = Effect(
        key: Array("\(2_000_000_000_000_000 + number)".utf8), intendedAt: .second(1),
        progress: .ended(result: [UInt8](repeating: 1, count: 40)))
      let entry = LedgerEntry.effect(name, effect)
      table.set(entry.name.bytes, entry.fields)
    }
    let each = table.bytes / count
    #expect(each <= 32 + 16 + 40 + 13 + 40, "\(each)")
    print("effect: \(each) bytes with a name of 32, a key of 16 and a result of 40 bytes")
  }
}
