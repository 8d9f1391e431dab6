import AppStoreSigning
import MillraceTime
import Testing

@testable import MillraceWorker

@Suite struct CommitBatchTests {
  private let lane = LaneEpoch(lane: 0, epoch: 1)
  private let other = LaneEpoch(lane: 1, epoch: 1)

  private func batch(limit: Int = 3) -> CommitBatch<Int> {
    var batch = CommitBatch<Int>(limit: limit, interval: .milliseconds(20))
    batch.attach(lane)
    batch.attach(other)
    return batch
  }

  @Test func `a batch is ready after its interval or if it is full`() {
    var batch = batch()
    #expect(batch.readiness(now: .second(0)) == .idle)
    check(batch.add([1], of: lane, isUrgent: false, now: .second(0)))
    #expect(batch.readiness(now: .second(0.01)) == .at(.second(0).advanced(by: .milliseconds(20))))
    #expect(batch.readiness(now: .second(1)) == .now)
    for write in [2, 3] { check(batch.add([write], of: lane, isUrgent: false, now: .second(0))) }
    #expect(batch.readiness(now: .second(0)) == .now)
  }

  @Test func `an urgent write makes the batch ready at once`() {
    var batch = batch()
    check(batch.add([1], of: lane, isUrgent: true, now: .second(0)))
    #expect(batch.readiness(now: .second(0)) == .now)
  }

  @Test func `only one batch is open at a time, and it names its lanes`() {
    var batch = batch()
    for (write, lane) in [(1, other), (2, lane), (3, other), (4, lane)] {
      check(batch.add([write], of: lane, isUrgent: false, now: .second(0)))
    }
    let first = batch.begin(now: .second(0))
    #expect(first?.flatMap(\.writes) == [1, 2, 3])
    #expect(first.map { Set($0.map(\.lane)) } == [lane, other])
    check(batch.begin(now: .second(0)) == nil)
    #expect(batch.readiness(now: .second(9)) == .idle)
    check(batch.committed().flatMap(\.writes) == [1, 2, 3])
    check(batch.begin(now: .second(0))?.flatMap(\.writes) == [4])
  }

  @Test func `an aborted batch is retried first, in order and in smaller parts that grow again`() {
    var batch = batch(limit: 8)
    for write in 1...8 { check(batch.add([write], of: lane, isUrgent: false, now: .second(0))) }
    check(batch.begin(now: .second(0))?.flatMap(\.writes).count == 8)
    for write in 9...30 { check(batch.add([write], of: lane, isUrgent: false, now: .second(0))) }
    // Each abort halves the batch, down to one write.
    for expected in [[1, 2, 3, 4], [1, 2], [1], [1]] {
      check(batch.aborted() == [])
      check(batch.begin(now: .second(0))?.flatMap(\.writes) == expected)
    }
    for expected in [2...3, 4...7, 8...15, 16...23] {
      _ = batch.committed()
      check(batch.begin(now: .second(0))?.flatMap(\.writes) == Array(expected))
    }
  }

  @Test func `an aborted batch is ready at once without new writes`() {
    var batch = batch()
    check(batch.add([1], of: lane, isUrgent: false, now: .second(0)))
    _ = batch.begin(now: .second(0))
    check(batch.aborted() == [])
    #expect(batch.readiness(now: .second(0)) == .now)
  }

  @Test func `a detached lane removes its writes`() {
    var batch = batch()
    for (write, lane) in [(1, lane), (2, other), (3, lane), (4, lane)] {
      check(batch.add([write], of: lane, isUrgent: false, now: .second(0)))
    }
    _ = batch.begin(now: .second(0))
    check(batch.detach(lane) == [4])
    #expect(!batch.isFlushed(lane), "the result of its writes in the batch is not known yet")
    check(batch.aborted() == [1, 3])
    #expect(batch.isFlushed(lane))
    check(!batch.add([5], of: lane, isUrgent: false, now: .second(0)))
    check(batch.begin(now: .second(0))?.flatMap(\.writes) == [2])
  }

  @Test(arguments: 0..<500 as Range<UInt64>)
  func `every write of a lane that stays attached is committed once, in order`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limit = Int.random(in: 1...5, using: &random)
    var batch = CommitBatch<Int>(limit: limit, interval: .zero)
    var lanes = (0..<3 as Range<Int32>).map { LaneEpoch(lane: $0, epoch: 1) }
    for lane in lanes { batch.attach(lane) }
    var added: [LaneEpoch: [Int]] = [:]
    var committed: [LaneEpoch: [Int]] = [:]
    var dropped: Set<Int> = []
    var isOpen = false
    var (most, begunCount) = (limit, 0)
    for step in 0..<300 {
      let lane = Int.random(in: 0..<3, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<4:
        // Some calls add more writes than fit in a commit.
        let writes = (0..<Int.random(in: 1...7, using: &random)).map { step * 10 + $0 }
        check(batch.add(writes, of: lanes[lane], isUrgent: false, now: .second(Double(step))), "seed \(seed)")
        added[lanes[lane], default: []] += writes
      case 4:
        let count = batch.count
        guard let begun = batch.begin(now: .second(Double(step))) else { continue }
        isOpen = true
        begunCount = begun.flatMap(\.writes).count
        #expect(begunCount == min(count, most), "seed \(seed)")
        #expect(batch.count == count, "seed \(seed): writes in flight must count")
      case 5 where isOpen:
        for item in batch.committed() { committed[item.lane, default: []] += item.writes }
        most = min(limit, most * 2)
        isOpen = false
      case 6 where isOpen:
        dropped.formUnion(batch.aborted())
        most = max(1, min(most, begunCount) / 2)
        isOpen = false
      case 7 where Int.random(in: 0..<5, using: &random) == 0:
        dropped.formUnion(batch.detach(lanes[lane]))
        lanes[lane].epoch += 1
        batch.attach(lanes[lane])
      default: break
      }
    }
    if isOpen { for item in batch.committed() { committed[item.lane, default: []] += item.writes } }
    while batch.begin(now: .second(999)) != nil {
      for item in batch.committed() { committed[item.lane, default: []] += item.writes }
    }
    #expect(batch.count == 0)
    for (lane, writes) in added {
      let arrived = committed[lane] ?? []
      #expect(arrived == writes.filter { arrived.contains($0) }, "seed \(seed): order")
      #expect(Set(arrived).count == arrived.count, "seed \(seed): twice")
      #expect(writes.allSatisfy { arrived.contains($0) != dropped.contains($0) }, "seed \(seed): lost")
      if lanes.contains(lane) { #expect(arrived == writes, "seed \(seed): lost, but the lane stayed attached") }
    }
  }
}
