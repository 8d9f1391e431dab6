import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct LaneWatermarksTests {
  private func position(_ topic: String, _ offset: Int64) -> SourcePosition {
    SourcePosition(topic: topic, offset: offset)
  }

  @Test func `every source has an offset from the start`() {
    var watermarks = LaneWatermarks(startingAt: ["b": 7, "a": 0])
    #expect(watermarks.offsets == [position("a", 0), position("b", 7)])
    check(watermarks.take(position("a", 0)))
    watermarks.finish(position("a", 0))
    #expect(watermarks.offsets == [position("a", 1), position("b", 7)])
  }

  @Test func `a record of another topic and a record that was already read are rejected`() {
    var watermarks = LaneWatermarks(startingAt: ["a": 5])
    let taken = [("c", 5), ("a", 4), ("a", 5), ("a", 5)].map { watermarks.take(position($0.0, Int64($0.1))) }
    #expect(taken == [false, false, true, false])
  }

  @Test func `computing the offsets of a commit changes nothing`() {
    var watermarks = LaneWatermarks(startingAt: ["a": 0])
    check(watermarks.take(position("a", 0)))
    let before = watermarks
    #expect(watermarks.offsets(finishing: [position("a", 0)]) == [position("a", 1)])
    #expect(watermarks == before)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `an offset is committed only after all records below it are finished`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let topics = ["a", "b", "c"]
    var watermarks = LaneWatermarks(startingAt: Dictionary(uniqueKeysWithValues: topics.map { ($0, 0) }))
    var unfinished: Set<SourcePosition> = []
    var next: [String: Int64] = [:]
    for _ in 0..<300 {
      if unfinished.isEmpty || Bool.random(using: &random) {
        let topic = topics[Int.random(in: 0..<3, using: &random)]
        let taken = position(topic, next[topic, default: 0] + Int64.random(in: 0...2, using: &random))
        check(watermarks.take(taken), "seed \(seed)")
        unfinished.insert(taken)
        next[topic] = taken.offset + 1
      } else {
        let batch = unfinished.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
        let rest = unfinished.subtracting(batch)
        for offset in watermarks.offsets(finishing: batch) {
          let expected = rest.filter { $0.topic == offset.topic }.map(\.offset).min() ?? next[offset.topic] ?? 0
          #expect(offset.offset == expected, "seed \(seed)")
        }
        // Half of the commits are aborted and must leave no trace.
        guard Bool.random(using: &random) else { continue }
        for position in batch { watermarks.finish(position) }
        unfinished = rest
      }
    }
  }
}
