import Testing

@testable import MillraceRecords
@testable import MillraceCore

@Suite struct TopicPlanTableTests {
  @Test func `A plan is an aligned table with a summary`() {
    var plan = TopicPlan(declared: [], actual: [], brokerCount: 3, durability: .strict)
    plan.steps = [
      .create(topic: "long.name", partitions: 12, replication: 3, settings: ["b": "2", "a": "1"]),
      .create(topic: "m", partitions: 4, replication: 2, settings: [:]),
      .alter(
        topic: "x", changes: [.init(name: "retention.ms", from: "1", to: "2"), .init(name: "z", from: nil, to: "3")]),
      .owned(topic: "o", settings: [.init(name: "a", from: "1", to: "2"), .init(name: "b", from: nil, to: "3")]),
      .addPartitions(topic: "y", from: 1, to: 2), .refuse(topic: "r", reason: "because"), .keep(topic: "k"),
    ]
    #expect(
      plan.table() == """
        TOPIC      ACTION  WHAT
        long.name  create  12 partitions, 3 replicas a=1 b=2
        m          create  4 partitions, 2 replicas
        x          alter   retention.ms: 1 → 2
                           z: unknown → 3
        o          owned   a=1 instead of 2, b=none instead of 3: the cluster does not let it be set
        y          extend  partitions: 1 → 2
        r          refuse  because
        k          keep

        2 to create, 1 to alter, 1 to extend, 1 refused, 1 as declared. 1 with settings that the cluster owns.
        The topics to create have 16 partitions and 44 replicas.

        """)
  }

  @Test func `The summary says if there is nothing to do`() {
    var plan = TopicPlan(declared: [], actual: [], brokerCount: 3, durability: .strict)
    plan.steps = [.keep(topic: "k")]
    #expect(plan.summary == "Nothing to do: 1 topics are as declared.")
  }
}
