import KafkaClient
import Testing

@testable import MillraceWorker

@Suite struct OffsetMarkTests {
  private static func print(_ offset: Int64) -> RecordFingerprint {
    RecordFingerprint(offset: offset, time: 1_000 + offset, digest: UInt64(offset) &* 0x9E37_79B9_7F4A_7C15)
  }

  @Test func `metadata is read as it was written`() {
    let ledger = LedgerMark(identity: 0xABC, end: 12)
    for mark in [
      OffsetMark(), OffsetMark(last: Self.print(7)), OffsetMark(last: Self.print(7), anchor: Self.print(3)),
      OffsetMark(ledger: ledger), OffsetMark(last: Self.print(7), anchor: Self.print(3), ledger: ledger),
      OffsetMark(last: RecordFingerprint(offset: 0, time: -1, digest: .max), ledger: ledger),
    ] {
      #expect(OffsetMark(mark.text) == mark)
      #expect(OffsetMark(mark.text + ";1;0;;;;;;;") == mark)
    }
  }

  @Test(arguments: [
    "", "relane", "4", "4;", "3;1;0;;;;;;;", "5;7:8:9;a:1", "4;7:8;a", "4;7:8:x;:1", "4;-7:8:9;a:-1",
    "text of another tool; with 2:3:4; fields",
  ])
  func `metadata of operators, other programs and earlier versions says nothing`(metadata: String) {
    #expect(OffsetMark(metadata) == OffsetMark())
  }

  @Test func `the mark of an offset is the last record before it`() {
    var trail = FingerprintTrail()
    #expect(trail.mark(before: 5).last == nil)
    // A transaction marker is at offset 2.
    for offset in [0, 1, 3, 4] as [Int64] { trail.append(Self.print(offset)) }
    #expect(trail.mark(before: 0).last == nil)
    #expect(trail.mark(before: 1).last == Self.print(0) && trail.mark(before: 1).anchor == nil)
    #expect(trail.mark(before: 3).last == Self.print(1))
    #expect(trail.mark(before: 9).last == Self.print(4))
    trail.committed(4)
    #expect(trail.mark(before: 4).last == Self.print(3), "a later commit can have the same offset")
    #expect(trail.mark(before: 5).last == Self.print(4))
  }

  @Test func `the anchor is from before the topic was last recognized`() {
    var trail = FingerprintTrail(Self.print(3))
    trail.append(Self.print(4))
    trail.append(Self.print(5))
    #expect(trail.mark(before: 6).anchor == Self.print(3))
    trail.recognized(after: Self.print(5))
    #expect(trail.mark(before: 6).last == Self.print(5) && trail.mark(before: 6).anchor == nil)
    #expect(trail.mark(before: 5).last == Self.print(4) && trail.mark(before: 5).anchor == nil)
    trail.append(Self.print(6))
    #expect(trail.mark(before: 7).anchor == Self.print(5))
  }

  @Test func `a long trail stays short`() {
    var trail = FingerprintTrail()
    for offset in 0..<100_000 as Range<Int64> {
      trail.append(Self.print(offset))
      trail.committed(offset - 10)
      if offset > 20 { #expect(trail.mark(before: offset - 10).last == Self.print(offset - 11)) }
    }
    #expect(trail.count < 300)
  }

  @Test func `records with the same id at different times differ, and records without an id by key and value`() {
    func item(_ id: String?, time: Int64, value: [UInt8]?, key: [UInt8] = [1]) -> RecordFingerprint {
      RecordFingerprint(
        LaneItem(
          ConsumerRecord(
            topic: "t", partition: 0, offset: 3, timestamp: time, key: key, value: value,
            headers: id.map { [RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", $0)] } ?? []),
          source: .live))
    }
    let all = [
      item("a", time: 1, value: [1]), item("a", time: 2, value: [1]), item("b", time: 1, value: [1]),
      item(nil, time: 1, value: [1]), item(nil, time: 1, value: [2]), item(nil, time: 1, value: nil),
      item(nil, time: 1, value: []), item(nil, time: 1, value: [], key: [1, 1]),
      item(nil, time: 1, value: [1], key: []),
    ]
    #expect(Set(all).count == all.count)
    #expect(item("a", time: 1, value: [2]) == all[0])
  }
}
