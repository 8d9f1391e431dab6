// The delivery of one event to one webhook.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords

/// The delivery of an event to one webhook.
struct WebhookDelivery: Sendable, Hashable {
  enum State: Sendable, Hashable {
    /// The receiver accepted it with this HTTP status.
    case delivered(status: Int)
    /// The webhook has finished it without a post: it is not subscribed, or an earlier version delivered it.
    case done
    /// It waits after this number of attempts.
    case waiting(attempts: Int)
    case dead
    /// The webhook has not read it.
    case unread
    /// The webhook has read it, and its ledger no longer has it.
    case forgotten
  }

  var position: RecordPosition
  /// The event's id, which is the `webhook-id` of its posts.
  var id: String
  /// The type of the event without `dev.millrace.`.
  var name: String
  /// The key, usually an `originalTransactionId`.
  var key: String
  var publishedAt: Timestamp
  var state = State.unread

  /// Reads an event; nil for a record without an id.
  init?(_ record: ConsumerRecord) {
    guard let id = record.text("ce_id") else { return nil }
    self.id = id
    let type = record.text("ce_type") ?? ""
    name = type.hasPrefix(Self.prefix) ? String(type.dropFirst(Self.prefix.count)) : type
    key = record.key.map { String(decoding: $0, as: UTF8.self) } ?? ""
    publishedAt = Timestamp(millisecondsSince1970: record.timestamp ?? 0)
    position = RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)
  }

  private static let prefix = "dev.millrace."
}

extension WebhookDelivery.State {
  var words: String {
    switch self {
    case .delivered(let status): "delivered, answered \(status)"
    case .done: "nothing to post"
    case .waiting(let attempts): "waits after \(attempts == 1 ? "1 attempt" : "\(attempts) attempts")"
    case .dead: "dead letter"
    case .unread: "not read yet"
    case .forgotten: "read; no outcome is left"
    }
  }

  var tone: Tone {
    switch self {
    case .delivered: .good
    case .done, .forgotten, .unread: .plain
    case .waiting: .warn
    case .dead: .bad
    }
  }

  /// Whether a copy of the event would be posted. The webhook skips copies of events that wait or are dead.
  var canBeResent: Bool {
    switch self {
    case .delivered, .done, .forgotten: true
    case .waiting, .dead, .unread: false
    }
  }
}
