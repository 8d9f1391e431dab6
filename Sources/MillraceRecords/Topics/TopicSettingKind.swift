// The accepted values of each topic setting, by Kafka's name (Kafka documentation, "Topic Configs"). Other settings are
// refused, so that a typing error is found before a topic is created without the setting.

enum TopicSettingKind: Sendable, Hashable {
  case oneOf([String])
  /// A whole number of at least `minimum`.
  case count(from: Int64)
  /// A number from 0 to 1.
  case fraction

  static let all: [String: TopicSettingKind] = [
    "cleanup.policy": .oneOf(["delete", "compact", "compact,delete"]),
    "compression.type": .oneOf(["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]),
    "delete.retention.ms": .count(from: 0),
    "max.compaction.lag.ms": .count(from: 1),
    "max.message.bytes": .count(from: 1),
    "message.timestamp.type": .oneOf(["CreateTime", "LogAppendTime"]),
    "min.cleanable.dirty.ratio": .fraction,
    "min.compaction.lag.ms": .count(from: 0),
    "min.insync.replicas": .count(from: 1),
    "retention.bytes": .count(from: -1),
    "retention.ms": .count(from: -1),
    "segment.bytes": .count(from: 1_048_576),
    "segment.ms": .count(from: 1),
    "unclean.leader.election.enable": .oneOf(["true", "false"]),
  ]

  func accepts(_ text: String) -> Bool {
    switch self {
    case .oneOf(let values): values.contains(text)
    case .count(let minimum): Int64(text).map { $0 >= minimum && String($0) == text } ?? false
    case .fraction: Double(text).map { (0...1).contains($0) } ?? false
    }
  }

  /// The accepted values, for errors.
  var expected: String {
    switch self {
    case .oneOf(let values): values.joined(separator: " or ")
    case .count(let minimum): "a whole number of at least \(minimum)"
    case .fraction: "a number from 0 to 1"
    }
  }
}
