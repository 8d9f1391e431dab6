// The keys of a topic file. Editors use `topics/schemas/topic.schema.json`; a test compares the two.

internal import AppStore
internal import MillraceCore

struct TopicFile: Sendable {
  var name: String?
  var description: String?
  var keyed: Bool?
  var lanes: Int?
  var replication: Int?
  var promise: Bool?
  var settings: [String: String] = [:]
  var notifications = TopicDefinition.Notifications()

  static let table = SettingTable<TopicFile>(settings: [
    Setting("name", \.name, .topicName, "The topic's name, without the deployment's prefix."),
    Setting("description", \.description, .nonEmptyText, "Who writes the topic and who reads it."),
    Setting(
      "keyed", \.keyed, .boolean,
      "Whether records of one key must stay in order; the partition count of such a topic is never changed."),
    Setting("lanes", \.lanes, .integer(1...10_000), "The partition count. Unset: `topics.lanes` of the configuration."),
    Setting("replication", \.replication, .integer(1...32), "The number of replicas of each partition."),
    Setting(
      "promise", \.promise, .boolean,
      "Whether the durability of its records is guaranteed. A process is not ready while the topic is too weak."),
    Setting("settings", \.settings, .topicSettings, "Topic settings by Kafka's names."),
    Setting(
      "notifications.v2", \.notifications.v2, .list(of: .openEnum), "The version 2 notification types it receives."),
    Setting(
      "notifications.v1", \.notifications.v1, .list(of: .openEnum), "The version 1 notification types it receives."),
    Setting(
      "notifications.unrecognized", \.notifications.unrecognized, .boolean,
      "Whether it receives the types that no file names. Exactly one topic must."),
  ])
}

extension SettingCodec where Value == String {
  /// A codec for topic names, by Kafka's rules.
  static let topicName = scalar(
    "topic name", expected: "a name of 1 to 200 letters, digits, dots, underscores and hyphens",
    parse: { text in
      let isName =
        (1...200).contains(text.utf8.count) && text != "." && text != ".."
        && text.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
          default: false
          }
        }
      return isName ? text : nil
    }, render: { $0 })
}

extension SettingCodec where Value == [String: String] {
  /// A codec for topic settings, each checked against ``TopicSettingKind/all``.
  static let topicSettings = Self(
    kind: "map",
    parse: { value throws(SettingFault) in
      let parsed = try SettingCodec.textMap().parse(value)
      for (name, text) in parsed.sorted(by: { $0.key < $1.key }) {
        guard let kind = TopicSettingKind.all[name] else {
          let nearest = NearestName.of(name, among: TopicSettingKind.all.keys.sorted())
          throw SettingFault("settings that Kafka supports, not \(name)" + (nearest.map { " (perhaps \($0))" } ?? ""))
        }
        guard kind.accepts(text) else { throw SettingFault("\(kind.expected) for \(name)") }
      }
      return parsed
    },
    render: SettingCodec.textMap().render)
}

extension SettingCodec where Value: OpenEnum, Value.RawValue == String {
  /// A codec for documented values. A type that Apple does not document goes to the topic for unrecognized types.
  static var openEnum: Self {
    scalar(
      "notification type", expected: "types that Apple documents, such as DID_RENEW",
      parse: { text in Value.allKnown.first { $0.rawValue == text } }, render: { $0.rawValue })
  }
}
