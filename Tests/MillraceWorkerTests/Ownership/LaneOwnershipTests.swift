import AppStoreSigning
import KafkaClient
import Testing

@testable import MillraceWorker

@Suite struct LaneOwnershipTests {
  private func partitions(_ names: String...) -> [TopicPartition] {
    names.map { name in
      TopicPartition(topic: String(name.prefix(1)), partition: Int32(name.dropFirst()) ?? -1)
    }
  }

  private func epoch(_ lane: Int32, _ epoch: UInt64) -> LaneEpoch { LaneEpoch(lane: lane, epoch: epoch) }

  private func running() -> LaneOwnership {
    var lifecycle = LaneOwnership(topics: ["a", "b"])
    _ = lifecycle.assign(partitions("a0", "b0"))
    _ = lifecycle.restored(epoch(0, 1))
    return lifecycle
  }

  @Test func `a lane starts when all of its partitions are owned`() {
    var lifecycle = LaneOwnership(topics: ["a", "b"])
    #expect(!lifecycle.isReady, "the process has not joined")
    check(lifecycle.assign(partitions("a0", "a1", "b1", "z0")) == [.start(epoch(1, 1))])
    #expect(!lifecycle.isReady, "lane 1 is restoring, and lane 0 is incomplete")
    check(lifecycle.restored(epoch(1, 1)))
    check(lifecycle.assign(partitions("b0")) == [.start(epoch(0, 2))])
    #expect(lifecycle.phase(of: epoch(0, 2)) == .restoring, "the lane is still restoring")
    check(lifecycle.restored(epoch(0, 2)))
    #expect(lifecycle.isReady)
    #expect(lifecycle.running == [epoch(0, 2), epoch(1, 1)])
  }

  @Test func `the topics that a divided lane lacks are known`() {
    var lifecycle = running()
    #expect(lifecycle.missing.isEmpty)
    _ = lifecycle.assign(partitions("a1", "b2", "a3", "b3"))
    #expect(lifecycle.missing == [1: ["b"], 2: ["a"]] && !lifecycle.isReady)
    _ = lifecycle.revoke(partitions("a0", "b0", "a1", "b2", "a3", "b3"))
    #expect(lifecycle.missing.isEmpty, "a lane that drains as a whole lacks nothing that matters")
  }

  @Test func `a member without lanes is ready when it has joined`() {
    var lifecycle = LaneOwnership(topics: ["a"])
    check(lifecycle.assign([]) == [])
    #expect(lifecycle.isReady)
  }

  @Test func `between two assignments a process knows nothing about its worker`() {
    var lifecycle = running()
    #expect(lifecycle.isSettled)
    // The broker has given up the member. Nobody may own its lanes.
    _ = lifecycle.lose(partitions("a0", "b0"))
    #expect(lifecycle.isReady && !lifecycle.isSettled)
    _ = lifecycle.assign(partitions("a0", "b0"))
    #expect(!lifecycle.isSettled, "the lane is restoring")
    _ = lifecycle.restored(epoch(0, 2))
    #expect(lifecycle.isSettled)
    // Another process has the lanes now.
    _ = lifecycle.lose(partitions("a0", "b0"))
    _ = lifecycle.assign([])
    #expect(lifecycle.isSettled)
  }

  @Test func `a revoked lane drains as a whole and accepts completions until it has ended`() {
    var lifecycle = running()
    check(lifecycle.revoke(partitions("b0")) == [.drain(epoch(0, 1))])
    check(lifecycle.revoke(partitions("a0")) == [])
    #expect(lifecycle.phase(of: epoch(0, 1)) == .draining)
    #expect(lifecycle.draining == [epoch(0, 1)])
    check(lifecycle.ended(epoch(0, 1)) == [])
    #expect(lifecycle.phase(of: epoch(0, 1)) == nil)
    check(lifecycle.assign(partitions("a0", "b0")) == [.start(epoch(0, 2))])
    #expect(lifecycle.phase(of: epoch(0, 1)) == nil)
    check(!lifecycle.restored(epoch(0, 1)), "a late event of an older epoch")
  }

  @Test func `a lost lane is dropped at once, even while it drains`() {
    var lifecycle = running()
    check(lifecycle.lose(partitions("a0", "b0")) == [.drop(epoch(0, 1))])
    #expect(lifecycle.phase(of: epoch(0, 1)) == nil)
    lifecycle = running()
    _ = lifecycle.revoke(partitions("a0"))
    check(lifecycle.lose(partitions("b0")) == [.drop(epoch(0, 1))])
    check(lifecycle.ended(epoch(0, 1)) == [])
  }

  @Test func `a lane that is still restoring is dropped without a drain`() {
    var lifecycle = LaneOwnership(topics: ["a"])
    _ = lifecycle.assign(partitions("a0"))
    check(lifecycle.revoke(partitions("a0")) == [.drop(epoch(0, 1))])
    check(!lifecycle.restored(epoch(0, 1)))
  }

  @Test func `a lane that is assigned again during its drain starts after the drain`() {
    var lifecycle = running()
    _ = lifecycle.revoke(partitions("a0", "b0"))
    check(lifecycle.assign(partitions("a0", "b0")) == [])
    check(lifecycle.ended(epoch(0, 1)) == [.start(epoch(0, 2))])
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `a fully owned lane has one epoch at a time, with rising numbers`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let topics = ["a", "b", "c"]
    var lifecycle = LaneOwnership(topics: topics)
    var owned: Set<TopicPartition> = []
    var live: [Int32: LaneEpoch] = [:]
    var newest: UInt64 = 0
    func follow(_ actions: [LaneOwnership.Action]) {
      for action in actions {
        switch action {
        case .start(let epoch):
          #expect(live[epoch.lane] == nil, "seed \(seed): two epochs of one lane")
          #expect(topics.allSatisfy { owned.contains(.init(topic: $0, partition: epoch.lane)) }, "seed \(seed)")
          #expect(epoch.epoch > newest, "seed \(seed)")
          newest = epoch.epoch
          live[epoch.lane] = epoch
        case .drain(let epoch): #expect(live[epoch.lane] == epoch, "seed \(seed)")
        case .drop(let epoch):
          #expect(live[epoch.lane] == epoch, "seed \(seed)")
          live[epoch.lane] = nil
        }
      }
    }
    for _ in 0..<300 {
      let some = topics.flatMap { topic in (0..<3 as Range<Int32>).map { TopicPartition(topic: topic, partition: $0) } }
        .filter { _ in Int.random(in: 0..<2, using: &random) == 0 }
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        owned.formUnion(some)
        follow(lifecycle.assign(some))
      case 2:
        owned.subtract(some)
        follow(lifecycle.revoke(some))
      case 3:
        owned.subtract(some)
        follow(lifecycle.lose(some))
      case 4:
        for epoch in live.values.sorted() { _ = lifecycle.restored(epoch) }
      default:
        for epoch in lifecycle.draining {
          live[epoch.lane] = nil
          follow(lifecycle.ended(epoch))
        }
      }
      for epoch in lifecycle.running {
        #expect(live[epoch.lane] == epoch, "seed \(seed)")
        #expect(topics.allSatisfy { owned.contains(.init(topic: $0, partition: epoch.lane)) }, "seed \(seed)")
      }
    }
  }
}
