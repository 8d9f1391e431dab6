import AppStoreSigning
import KafkaClient
import Testing

@testable import MillraceTesting

@Suite struct GroupStateTests {
  private static let counts = ["t": 5]
  private static let all = Set((Int32(0)..<5).map { TopicPartition(topic: "t", partition: $0) })

  @Test(arguments: 0..<300)
  func `every partition has exactly one owner for any order of events`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var group = GroupState(rebalanceTimeout: .seconds(30))
    var owned: [String: Set<TopicPartition>] = [:]
    var revoking: Set<String> = []
    var (now, last, next) = (Duration.zero, group.generation, 0)
    for _ in 0..<200 {
      now += .seconds(1)
      let someone = group.members.keys.sorted().randomElement(using: &random)
      switch (Int.random(in: 0..<6, using: &random), someone) {
      case (0, _) where group.members.count < 6:
        next += 1
        group.join("m\(next)", topics: ["t"], instance: nil, counts: Self.counts, now: now)
      case (1, let id?):
        owned[id] = nil
        revoking.remove(id)
        group.leave(id, counts: Self.counts, now: now)
      case (2, let id?): group.silence(id, until: now + .seconds(10))
      case (3, let id?): group.hear(id, counts: Self.counts, now: now)
      case (4, _): group.expire(counts: Self.counts, now: now)
      default:
        guard let id = revoking.sorted().randomElement(using: &random) else { continue }
        revoking.remove(id)
        owned[id] = nil
        _ = group.rejoin(id, counts: Self.counts, now: now)
      }
      // An expelled member no longer owns its partitions, even if it has not noticed.
      for id in group.expelled {
        owned[id] = nil
        revoking.remove(id)
      }
      for (id, event) in group.outbox {
        switch event {
        case .revoked(let partitions):
          #expect(owned[id] == Set(partitions), "seed \(seed): \(id) must revoke all of its partitions")
          revoking.insert(id)
        case .assigned(let partitions):
          for (other, theirs) in owned where other != id {
            #expect(theirs.isDisjoint(with: partitions), "seed \(seed): \(id) and \(other)")
          }
          owned[id] = Set(partitions)
        }
      }
      (group.outbox, group.expelled) = ([], [])
      #expect(group.generation >= last, "seed \(seed)")
      last = group.generation
      if group.rebalanceDeadline == nil, !group.members.isEmpty {
        #expect(owned.values.reduce(into: Set()) { $0.formUnion($1) } == Self.all, "seed \(seed)")
      }
      #expect((group.rebalanceDeadline ?? now) > now - .seconds(31), "seed \(seed)")
    }
  }

  @Test func `offsets of a transaction take effect when it commits`() {
    var group = GroupState(rebalanceTimeout: .seconds(30))
    let partition = TopicPartition(topic: "t", partition: 0)
    group.commit([CommittedOffset(partition, offset: 1)])
    group.add([CommittedOffset(partition, offset: 5)], to: 1)
    group.add([CommittedOffset(partition, offset: 3)], to: 2)
    #expect(!group.isStable(partition))
    group.end(1, isCommitted: false)
    #expect(!group.isStable(partition))
    #expect(group.committed[partition]?.offset == 1)
    group.end(2, isCommitted: true)
    #expect(group.isStable(partition))
    #expect(group.committed[partition]?.offset == 3)
  }
}
