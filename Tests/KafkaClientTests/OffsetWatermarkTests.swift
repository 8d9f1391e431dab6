import AppStoreSigning
import Testing

@testable import KafkaClient

@Suite struct OffsetWatermarkTests {
  @Test func `without records the start offset is committable`() {
    let watermark = OffsetWatermark(startingAt: 7)
    #expect(watermark.committable == 7)
    #expect(watermark.inFlight == 0)
  }

  @Test func `each record finished in order advances the watermark`() {
    var watermark = OffsetWatermark(startingAt: 0)
    for offset in 0..<3 as Range<Int64> { watermark.take(offset) }
    let moved = [0, 1, 2].map { watermark.finish($0) }
    #expect(moved == [1, 2, 3])
  }

  @Test func `a record finished before an older one does not advance the watermark`() {
    var watermark = OffsetWatermark(startingAt: 0)
    for offset in 0..<3 as Range<Int64> { watermark.take(offset) }
    let moved = [2, 1, 0].map { watermark.finish($0) }
    #expect(moved == [nil, nil, 3])
  }

  @Test func `the watermark skips gaps that compaction leaves`() {
    var watermark = OffsetWatermark(startingAt: 0)
    for offset in [5, 1_000_000_000_000, 1_000_000_000_005] as [Int64] { watermark.take(offset) }
    #expect(watermark.committable == 5)
    let moved = [5, 1_000_000_000_000, 1_000_000_000_005].map { watermark.finish($0) }
    #expect(moved == [1_000_000_000_000, 1_000_000_000_005, 1_000_000_000_006])
  }

  @Test func `offsets taken or finished twice have no effect`() {
    var watermark = OffsetWatermark(startingAt: 0)
    let taken = [3, 3, 2].map { watermark.take($0) }
    #expect(taken == [true, false, false])
    let moved = [9, 3, 3].map { watermark.finish($0) }
    #expect(moved == [nil, 4, nil])
    #expect(watermark.inFlight == 0)
  }

  /// Compares the watermark with a simple model. The committable offset is the lowest unfinished one, or one past the
  /// highest if all are finished.
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
