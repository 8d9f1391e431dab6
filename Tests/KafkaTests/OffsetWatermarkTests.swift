import AppStoreSigning
import Testing

@testable import Kafka

@Suite struct OffsetWatermarkTests {
  @Test func `nothing taken commits the start`() {
    let watermark = OffsetWatermark(startingAt: 7)
    #expect(watermark.committable == 7)
    #expect(watermark.inFlight == 0)
  }

  @Test func `records finished in order move it one by one`() {
    var watermark = OffsetWatermark(startingAt: 0)
    for offset in 0..<3 as Range<Int64> { watermark.take(offset) }
    let moved = [0, 1, 2].map { watermark.finish($0) }
    #expect(moved == [1, 2, 3])
  }

  @Test func `a record finished ahead of an older one moves nothing`() {
    var watermark = OffsetWatermark(startingAt: 0)
    for offset in 0..<3 as Range<Int64> { watermark.take(offset) }
    let moved = [2, 1, 0].map { watermark.finish($0) }
    #expect(moved == [nil, nil, 3])
  }

  @Test func `gaps left by compaction are passed over`() {
    var watermark = OffsetWatermark(startingAt: 0)
    for offset in [5, 1_000_000_000_000, 1_000_000_000_005] as [Int64] { watermark.take(offset) }
    #expect(watermark.committable == 5)
    let moved = [5, 1_000_000_000_000, 1_000_000_000_005].map { watermark.finish($0) }
    #expect(moved == [1_000_000_000_000, 1_000_000_000_005, 1_000_000_000_006])
  }

  @Test func `offsets taken or finished twice change nothing`() {
    var watermark = OffsetWatermark(startingAt: 0)
    let taken = [3, 3, 2].map { watermark.take($0) }
    #expect(taken == [true, false, false])
    let moved = [9, 3, 3].map { watermark.finish($0) }
    #expect(moved == [nil, 4, nil])
    #expect(watermark.inFlight == 0)
  }

  /// Against the obvious model: the committable offset is the lowest unfinished one, else one past the highest taken.
  @Test(arguments: 0..<50 as Range<UInt64>)
  func `any order of taking and finishing agrees with the model`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var watermark = OffsetWatermark(startingAt: 100)
    var unfinished: Set<Int64> = []
    var next: Int64 = 100
    for _ in 0..<500 {
      if unfinished.isEmpty || Bool.random(using: &random) {
        let offset = next + Int64.random(in: 0...3, using: &random)
        watermark.take(offset)
        unfinished.insert(offset)
        next = offset + 1
      } else if let offset = unfinished.randomElement(using: &random) {
        watermark.finish(offset)
        unfinished.remove(offset)
      }
      #expect(watermark.committable == unfinished.min() ?? next, "seed \(seed)")
      #expect(watermark.inFlight == unfinished.count, "seed \(seed)")
    }
  }
}
