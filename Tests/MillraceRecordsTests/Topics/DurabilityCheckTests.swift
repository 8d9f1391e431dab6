import Testing

@testable import MillraceCore
@testable import MillraceRecords

@Suite struct DurabilityCheckTests {
  private static let strong = [
    "min.insync.replicas": "2", "unclean.leader.election.enable": "false", "max.message.bytes": "4194304",
  ]
  private static let promised = TopicDefinition(name: "a", lanes: 12, settings: strong)
  private static let other = TopicDefinition(name: "b", keyed: false, lanes: 12, promise: false, settings: strong)

  private static func weaknesses(
    _ topic: TopicDefinition = promised, partitions: Int = 12, replication: Int = 3,
    settings: [String: String]? = strong, _ durability: KafkaSettings.Durability = .strict
  ) -> [DurabilityCheck.Weakness] {
    let state = TopicState(
      topic: topic.topic, partitions: partitions, replication: replication, settings: settings)
    return DurabilityCheck.weaknesses(declared: [topic], actual: [state], durability: durability)
  }

  private static func with(_ name: String, _ value: String?) -> [String: String] {
    var settings = strong
    settings[name] = value
    return settings
  }

  @Test func `A cluster that is at least as durable as declared is accepted`() {
    #expect(Self.weaknesses().isEmpty)
    #expect(Self.weaknesses(replication: 5, settings: Self.with("min.insync.replicas", "3")).isEmpty)
    #expect(Self.weaknesses(settings: Self.with("max.message.bytes", "9000000")).isEmpty)
  }

  @Test func `Each weakness is reported`() {
    #expect(Self.weaknesses(replication: 2) == [.replication(topic: "a", actual: 2, declared: 3)])
    #expect(
      Self.weaknesses(settings: Self.with("min.insync.replicas", "1")) == [
        .minimumInsync(topic: "a", actual: "1", declared: 2)
      ])
    #expect(
      Self.weaknesses(settings: Self.with("unclean.leader.election.enable", "true")) == [.uncleanElection(topic: "a")])
    #expect(
      Self.weaknesses(settings: Self.with("max.message.bytes", "1048588")) == [
        .maxMessageBytes(topic: "a", actual: "1048588", declared: "4194304")
      ])
    #expect(Self.weaknesses(partitions: 4) == [.partitions(topic: "a", actual: 4, declared: 12)])
  }

  @Test(arguments: [
    ("cleanup.policy", "compact", "delete"), ("cleanup.policy", "compact", "compact,delete"),
    ("retention.ms", "1000", "999"), ("retention.ms", "-1", "1000"), ("retention.bytes", "-1", "0"),
  ])
  func `A topic that deletes records too early is reported`(name: String, declared: String, actual: String) {
    var topic = Self.promised
    topic.settings[name] = declared
    func weaknesses(_ value: String?) -> [DurabilityCheck.Weakness] {
      DurabilityCheck.weaknesses(
        declared: [topic],
        actual: [TopicState(topic: "a", partitions: 12, replication: 3, settings: Self.with(name, value))],
        durability: .strict)
    }
    #expect(weaknesses(actual) == [.deletion(topic: "a", setting: name, actual: actual, declared: declared)])
    #expect(weaknesses(declared).isEmpty && weaknesses(nil).isEmpty)
    if name != "cleanup.policy" {
      #expect(weaknesses("-1").isEmpty && weaknesses("9000").isEmpty == (declared != "-1"))
    }
  }

  @Test func `A cluster that hides its settings counts as weak`() {
    #expect(Self.weaknesses(settings: nil).count == 3)
    #expect(Self.weaknesses(settings: Self.with("min.insync.replicas", nil)).count == 1)
  }

  @Test func `A missing topic is reported for any durability`() {
    for durability in KafkaSettings.Durability.allCases {
      #expect(
        DurabilityCheck.weaknesses(declared: [Self.promised], actual: [], durability: durability)
          == [.missing(topic: "a")])
    }
  }

  @Test func `Relaxed durability requires only that topics exist`() {
    #expect(Self.weaknesses(partitions: 1, replication: 1, settings: nil, .relaxed).isEmpty)
  }

  @Test func `A topic without a promise can be weak`() {
    #expect(Self.weaknesses(Self.other, partitions: 1, replication: 1, settings: nil).isEmpty)
  }

  @Test func `Each weakness names the topic and the remedy`() {
    let all: [DurabilityCheck.Weakness] = [
      .missing(topic: "a"), .replication(topic: "a", actual: 1, declared: 2),
      .minimumInsync(topic: "a", actual: "1", declared: 2), .uncleanElection(topic: "a"),
      .maxMessageBytes(topic: "a", actual: "1", declared: "2"), .partitions(topic: "a", actual: 1, declared: 2),
    ]
    for weakness in all {
      #expect(weakness.description.hasPrefix("a ") && weakness.description.contains(": "), "\(weakness)")
    }
  }
}
