import AppStoreSigning
import Testing

@testable import MillraceCore
@testable import MillraceRecords

@Suite struct TopicPlanTests {
  private static let settings = ["min.insync.replicas": "2", "unclean.leader.election.enable": "false"]
  private static let keyed = TopicDefinition(name: "a", lanes: 12, settings: settings)
  private static let unkeyed = TopicDefinition(name: "b", keyed: false, lanes: 4, promise: false, settings: settings)

  private static func plan(
    _ topic: TopicDefinition, _ state: TopicState?, brokers: Int = 3, _ durability: KafkaSettings.Durability = .strict
  ) -> [TopicPlan.Step] {
    TopicPlan(declared: [topic], actual: state.map { [$0] } ?? [], brokerCount: brokers, durability: durability).steps
  }

  private static func state(
    _ topic: String, _ partitions: Int, _ replication: Int = 3, _ settings: [String: String]? = Self.settings
  ) -> TopicState {
    TopicState(topic: topic, partitions: partitions, replication: replication, settings: settings)
  }

  private static func isRefusal(_ step: TopicPlan.Step?) -> Bool {
    if case .refuse? = step { true } else { false }
  }

  @Test func `A missing topic is created as declared`() {
    #expect(
      Self.plan(Self.keyed, nil) == [.create(topic: "a", partitions: 12, replication: 3, settings: Self.settings)])
  }

  @Test func `A topic that is as declared is not changed`() {
    #expect(Self.plan(Self.keyed, Self.state("a", 12)) == [.keep(topic: "a")])
    #expect(Self.plan(Self.keyed, Self.state("a", 12, 5)) == [.keep(topic: "a")])
  }

  @Test func `Different settings are altered, with the old and the new value`() {
    let state = Self.state(
      "a", 12, 3, ["min.insync.replicas": "1", "unclean.leader.election.enable": "true", "retention.ms": "7"])
    #expect(
      Self.plan(Self.keyed, state) == [
        .alter(
          topic: "a",
          changes: [
            .init(name: "min.insync.replicas", from: "1", to: "2"),
            .init(name: "unclean.leader.election.enable", from: "true", to: "false"),
          ])
      ])
  }

  @Test func `Settings that the cluster owns, or does not have, are compared and left`() {
    var state = Self.state("a", 12, 3, ["min.insync.replicas": "1"])
    state.readOnly = ["min.insync.replicas"]
    #expect(
      Self.plan(Self.keyed, state) == [
        .owned(
          topic: "a",
          settings: [
            .init(name: "min.insync.replicas", from: "1", to: "2"),
            .init(name: "unclean.leader.election.enable", from: nil, to: "false"),
          ])
      ])
    state.readOnly = []
    #expect(
      Self.plan(Self.keyed, state) == [
        .alter(topic: "a", changes: [.init(name: "min.insync.replicas", from: "1", to: "2")]),
        .owned(topic: "a", settings: [.init(name: "unclean.leader.election.enable", from: nil, to: "false")]),
      ])
    state = Self.state("a", 12, 3, Self.settings)
    state.readOnly = Set(Self.settings.keys)
    #expect(Self.plan(Self.keyed, state) == [.keep(topic: "a")], "owned settings with the declared values")
  }

  private static func own(_ settings: [String: String]) -> TopicState {
    TopicState(
      topic: "a", partitions: 12, replication: 3, settings: Self.settings.merging(settings) { $1 },
      overrides: Set(Self.settings.keys).union(settings.keys))
  }

  @Test(arguments: [
    ("retention.bytes", "1000"), ("retention.ms", "60000"), ("cleanup.policy", "compact"),
  ])
  func `An undeclared setting is refused if a topic with a promise could lose records`(
    name: String, value: String
  ) throws {
    let steps = Self.plan(Self.keyed, Self.own([name: value]))
    guard steps.count == 1, case .refuse(_, let reason)? = steps.first else {
      Issue.record("\(steps)")
      return
    }
    #expect(reason.contains("\(name)=\(value)") && reason.contains("--delete-config \(name)"))
    let plan = TopicPlan(declared: [Self.keyed], actual: [Self.own([name: value])], brokerCount: 3, durability: .strict)
    #expect(plan.hasRefusals && !plan.isUpToDate)
    // Without a promise the setting is shown and not changed.
    var free = Self.keyed
    free.promise = false
    #expect(Self.plan(free, Self.own([name: value])) == [.undeclared(topic: "a", settings: [name: value])])
    #expect(
      Self.plan(Self.keyed, Self.own([name: value]), .relaxed) == [.undeclared(topic: "a", settings: [name: value])])
  }

  @Test func `Other undeclared settings are shown and not changed`() {
    let settings = ["compression.type": "zstd", "retention.bytes": "-1"]
    #expect(Self.plan(Self.keyed, Self.own(settings)) == [.undeclared(topic: "a", settings: settings)])
    // A value that the topic inherits from the broker is not a setting of the topic.
    var state = Self.own(settings)
    state.overrides = Set(Self.settings.keys)
    #expect(Self.plan(Self.keyed, state) == [.keep(topic: "a")])
  }

  @Test func `During an outage the remedy is to start the brokers, not to relax durability`() {
    let steps = TopicPlan(
      declared: [Self.keyed], actual: [], brokerCount: 2, absentBrokers: [3], durability: .strict
    ).steps
    guard case .refuse(_, let reason)? = steps.first else {
      Issue.record("\(steps)")
      return
    }
    #expect(reason.contains("2 of 3 answer") && reason.contains("start broker 3"))
    #expect(!reason.contains("relaxed"))
  }

  @Test func `The order of a list is ignored`() {
    var topic = Self.keyed
    topic.settings = ["cleanup.policy": "compact,delete"]
    #expect(Self.plan(topic, Self.state("a", 12, 3, ["cleanup.policy": "delete,compact"])) == [.keep(topic: "a")])
  }

  @Test func `Settings that the cluster hides are not compared`() {
    #expect(Self.plan(Self.keyed, Self.state("a", 12, 3, nil)) == [.keep(topic: "a")])
  }

  @Test(arguments: [4, 11, 13, 24])
  func `The partition count of a keyed topic is never changed`(partitions: Int) {
    let steps = Self.plan(Self.keyed, Self.state("a", partitions))
    #expect(steps.count == 1)
    #expect(Self.isRefusal(steps.first))
  }

  @Test func `Partitions of a topic without keys are added, never removed`() {
    #expect(Self.plan(Self.unkeyed, Self.state("b", 2)) == [.addPartitions(topic: "b", from: 2, to: 4)])
    #expect(Self.isRefusal(Self.plan(Self.unkeyed, Self.state("b", 8)).first))
  }

  @Test func `Too few replicas are refused, and the reason names the tool to add them`() {
    let steps = Self.plan(Self.keyed, Self.state("a", 12, 1))
    #expect(Self.isRefusal(steps.first))
    #expect("\(steps)".contains("kafka-reassign-partitions"))
  }

  @Test func `Too few brokers are refused, unless durability is relaxed`() {
    #expect(Self.isRefusal(Self.plan(Self.keyed, nil, brokers: 1).first))
    #expect(
      Self.plan(Self.keyed, nil, brokers: 1, .relaxed) == [
        .create(
          topic: "a", partitions: 12, replication: 1,
          settings: ["min.insync.replicas": "1", "unclean.leader.election.enable": "false"])
      ])
    let state = Self.state(
      "a", 12, 1, ["min.insync.replicas": "1", "unclean.leader.election.enable": "false"])
    #expect(Self.plan(Self.keyed, state, brokers: 1, .relaxed) == [.keep(topic: "a")])
  }

  @Test(arguments: [
    (1, KafkaSettings.Durability.relaxed, ["Relaxed: at most 1 replica, one for each broker."]),
    (2, .relaxed, ["Relaxed: at most 2 replicas, one for each broker."]), (3, .relaxed, []), (2, .strict, []),
  ])
  func `The summary says if fewer replicas than declared are enough`(
    brokers: Int, durability: KafkaSettings.Durability, more: [Substring]
  ) {
    let plan = TopicPlan(declared: [Self.keyed], actual: [], brokerCount: brokers, durability: durability)
    #expect(plan.summary.split(separator: "\n").filter { $0.hasPrefix("Relaxed") } == more)
  }

  @Test func `Other topics of the cluster are not changed`() {
    let plan = TopicPlan(declared: [], actual: [Self.state("other", 1)], brokerCount: 3, durability: .strict)
    #expect(plan.steps.isEmpty)
    #expect(plan.isUpToDate)
  }

  @Test func `A plan is up to date after it was applied`() {
    let seed: UInt64 = 7
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let declared = (0..<4).map { index in
        TopicDefinition(
          name: "t\(index)", keyed: .random(using: &generator), lanes: .random(in: 1...4, using: &generator),
          replication: .random(in: 1...3, using: &generator), promise: false,
          settings: ["retention.ms": "\(Int.random(in: 1...2, using: &generator))"])
      }
      var cluster = (0..<4).filter { _ in Bool.random(using: &generator) }.map { index in
        TopicState(
          topic: "t\(index)", partitions: .random(in: 1...4, using: &generator), replication: 3,
          settings: ["retention.ms": "\(Int.random(in: 1...2, using: &generator))"])
      }
      let plan = TopicPlan(declared: declared, actual: cluster, brokerCount: 3, durability: .strict)
      for step in plan.steps { Self.apply(step, to: &cluster) }
      let after = TopicPlan(declared: declared, actual: cluster, brokerCount: 3, durability: .strict)
      let changes = after.steps.filter(\.changesCluster)
      #expect(changes.isEmpty, "seed \(seed)")
      #expect(after.hasRefusals == plan.hasRefusals, "seed \(seed)")
    }
  }

  private static func apply(_ step: TopicPlan.Step, to cluster: inout [TopicState]) {
    switch step {
    case .create(let topic, let partitions, let replication, let settings):
      cluster.append(
        TopicState(topic: topic, partitions: partitions, replication: replication, settings: settings))
    case .alter(let topic, let changes):
      for index in cluster.indices where cluster[index].topic == topic {
        for change in changes { cluster[index].settings?[change.name] = change.to }
      }
    case .addPartitions(let topic, _, let count):
      for index in cluster.indices where cluster[index].topic == topic { cluster[index].partitions = count }
    case .owned, .undeclared, .refuse, .keep: break
    }
  }
}
