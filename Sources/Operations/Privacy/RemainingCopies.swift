// The records and topics that an erasure leaves in Kafka: records that only retention or compaction removes, and topics
// that it does not reach.

package import AppStore
package import KafkaClient

/// A group of topics that still have records of an erased customer, and until when.
package struct RemainingCopies: Sendable, Hashable, Reportable {
  /// The kinds of topics.
  enum Kind: String, CaseIterable {
    case notifications = "signed notifications"
    case retries = "waiting and replayed records, which are not handled"
    case deadLetters = "dead letters, which are discarded"
    case decoded = "decoded records"
    case events = "events"
    case quarantine = "refused bodies"
    case imports = "the ids of imports"
    case commands = "the encrypted command"
    case tables = "earlier rows and ledger entries"
    case answers = "answers that your services wrote, which are not erased"
    case refundChecks = "who was asked about refunds, which is not erased"
    case others = "your own topics; only the rows of a worker's `outputTopics` are erased"

    /// Whether compaction removes what the topics had, because the erasure has written records without a value to them.
    var isErased: Bool { self == .tables }

    /// The kind of a topic, by its name without prefix; nil for a topic without customers.
    init?(_ name: String) {
      switch name {
      case _ where name.hasPrefix("appstore.notifications."), "appstore.transactions.refunds": self = .notifications
      case _ where name.hasPrefix("appstore.decoded."): self = .decoded
      case _ where name.hasPrefix("appstore.events."): self = .events
      case "millrace.quarantine": self = .quarantine
      case "millrace.subscription-imports": self = .imports
      case "millrace.operations": self = .commands
      case "millrace.audit", "millrace.control", "millrace.ingress", "millrace.campaigns", "millrace.backfills":
        return nil
      case "appstore.consumption-answers": self = .answers
      case "millrace.refund-checks": self = .refundChecks
      case "appstore.subscriptions", "appstore.purchases", "appstore.entitlements": self = .tables
      case _ where name.hasPrefix("millrace.") && name.hasSuffix(".ledger"): self = .tables
      case _ where name.hasSuffix(".dead-letters"): self = .deadLetters
      case _ where name.hasSuffix(".replay") || name.contains(".retry."): self = .retries
      default: self = .others
      }
    }
  }

  /// A description of the records.
  package var content: String
  /// The topics.
  package var topics: [String]
  /// When Kafka may delete the last record; nil if compaction removes them, or Kafka keeps them without limit. Kafka
  /// deletes whole segments, so it can take longer.
  package var until: Timestamp?
  /// Whether compaction removes the records.
  package var isCompacted: Bool

  /// Groups the topics of a cluster.
  /// - Parameter names: The names without prefix, by name in Kafka.
  package static func all(
    _ topics: [TopicDescription], named names: [String: String], now: Timestamp
  ) -> [RemainingCopies] {
    Kind.allCases.compactMap { kind in
      let members = topics.filter { topic in names[topic.name].flatMap { Kind($0) } == kind }
      guard !members.isEmpty else { return nil }
      // In a compacted topic, `retention.ms` deletes nothing.
      let isKept = members.contains { $0.settings?["cleanup.policy"]?.contains("compact") == true }
      let isCompacted = isKept && kind.isErased
      let retention = members.map { topic in topic.settings?["retention.ms"].flatMap { Int64($0) } ?? -1 }
      let isEndless = isKept || retention.contains { $0 < 0 }
      return RemainingCopies(
        content: kind.rawValue, topics: members.map(\.name).sorted(),
        until: isEndless ? nil : now + .milliseconds(retention.max() ?? 0), isCompacted: isCompacted)
    }
  }

  /// The columns of ``row``.
  package static let columns = [
    TextColumn("LEFT IN KAFKA", minimumWidth: 20), TextColumn("UNTIL", minimumWidth: 20), TextColumn("TOPICS"),
  ]

  private var end: String {
    until.map { RecordView.seconds($0) } ?? (isCompacted ? "compaction" : "no limit")
  }

  /// The cells of one table row.
  package var row: [TextCell] {
    let shown = topics.count > 3 ? "\(topics[0]) and \(topics.count - 1) more" : topics.joined(separator: ", ")
    return [TextCell(content), TextCell(end, .yellow), TextCell(shown, .dim)]
  }

  /// The group as one line of JSON, without a line feed.
  package var jsonLine: String {
    let json: JSONObject = [
      "left": .string(content), "until": until.map { .string($0.rfc3339) } ?? .null, "compacted": .bool(isCompacted),
      "topics": .array(topics.map { .string($0) }),
    ]
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}
