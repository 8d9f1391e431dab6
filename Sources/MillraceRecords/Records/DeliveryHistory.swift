// The delivery history of a record: headers that delayed, replayed and dead records carry in addition to their own.

public import AppStore
package import MillraceTime
public import KafkaClient

/// The delivery history of a record in a worker's own topics.
///
/// The worker trusts these headers only on its own topics. On a notification topic it ignores them, because any
/// producer can set them, and the record starts a new history.
public struct DeliveryHistory: Sendable, Hashable {
  /// The reason why a record is on the replay topic.
  public enum ReplayMode: String, Sendable, Hashable, CaseIterable {
    /// Notifications that are already handled are skipped.
    case plain
    /// Handlers run again. Only events that differ are published, and completed effects are not repeated.
    case reapply
    /// A dead letter is retried.
    case requeue
    /// A dead letter of a `--reapply` run is retried. Handlers run again for notifications that are already handled.
    case requeueReapply = "requeue-reapply"

    /// Whether handlers run again for notifications that are already handled.
    public var reapplies: Bool { self == .reapply || self == .requeueReapply }
    /// Whether a dead letter is retried.
    public var isRequeue: Bool { self == .requeue || self == .requeueReapply }
  }

  /// The replay that a record was sent by.
  public struct Replay: Sendable, Hashable {
    /// `ce_replayid`: the id of the replay run.
    public var id: String
    /// How the worker treats the record.
    public var mode: ReplayMode
    /// The operator's reason.
    public var why: String?

    package init(id: String, mode: ReplayMode, why: String?) {
      self.id = id
      self.mode = mode
      self.why = why
    }
  }

  /// The position where the record was first read.
  public var first: RecordPosition
  /// The time when it was first written, in milliseconds since 1970.
  public var firstTimestamp: Int64
  /// The number of earlier handler runs; 0 for a new record.
  public var attempt: Int
  /// The time when the record was written to its current retry topic, by the worker's clock. Nil if it is not delayed.
  public var delayedAt: Timestamp?
  /// The time when the record is due; it may pass through several retry topics until then. Nil if it is not delayed.
  public var due: Timestamp?
  /// The time after which the record is no longer worth handling, from ``NotificationWorker``. Nil means never.
  public var deadline: Timestamp?
  /// The ledger key, in hexadecimal, of the record of the same key that this one waits for (`ordering: strict`).
  public var behind: String?
  /// The reasons why the record was delayed or became a dead letter, oldest first, at most ``maximumCauses``.
  public var causes: [String]
  /// An excerpt of the last answer of a receiver; empty if there is none.
  package var answer = ""
  /// The replay, if the record is on the replay topic.
  public var replay: Replay?

  /// The maximum number of causes. Older ones are dropped, so that a record that fails for a week does not become too
  /// large for its topic.
  static let maximumCauses = 16

  /// The code of the newest cause; nil if there is none.
  package var lastReason: String? {
    causes.last.flatMap { $0.split(separator: " ").dropFirst().first?.split(separator: ":").first.map(String.init) }
  }

  /// Whether handlers run again although the notification is already handled.
  package var reapplies: Bool { replay?.mode.reapplies ?? false }
  /// Whether a dead letter is retried.
  package var isRequeued: Bool { replay?.mode.isRequeue ?? false }

  /// The header that names the replay run that sent a copy.
  public static let replayIDHeader = "ce_replayid"

  /// The header that names the original of a copy, in topics that belong to no worker: `<topic>/<partition>/<offset>`.
  package static let sourceHeader = "ce_replayof"

  private enum Name {
    static let prefix = "millrace-"
    static let topic = "millrace-first-topic"
    static let partition = "millrace-first-partition"
    static let offset = "millrace-first-offset"
    static let timestamp = "millrace-first-timestamp"
    static let attempt = "millrace-attempt"
    static let delayedAt = "millrace-delayed-at"
    static let due = "millrace-due"
    static let deadline = "millrace-deadline"
    static let behind = "millrace-behind"
    static let cause = "millrace-cause"
    static let answer = "millrace-answer"
    static let replayMode = "millrace-replay-mode"
    static let replayWhy = "millrace-replay-why"
  }

  /// Reads the history of a record on a worker's own topic: retry, replay or dead letters. Headers that are missing or
  /// malformed get the values of a new record, so a history is never a reason to refuse a record.
  public init(_ record: ConsumerRecord) { self.init(record, hasHistory: true, clock: .system) }

  /// - Parameters:
  ///   - hasHistory: Whether to read the headers as a history: the record is on the worker's own topic, and at least
  ///     one of its headers may belong to a history.
  ///   - clock: Gives the time when the record was written if its history does not.
  package init(_ record: ConsumerRecord, hasHistory: Bool, clock: MillraceClock) {
    var (topic, partition, offset): (String?, Int32?, Int64?)
    var (timestamp, mode, why): (Int64?, ReplayMode?, String?)
    var id = ""
    causes = []
    attempt = 0
    // This runs for every record that is read, so it looks at each header once and builds no dictionary.
    for header in hasHistory ? record.headers : [] where Self.isHistory(header) {
      guard let value = header.value, let text = String(utf8: value) else { continue }
      switch header.name {
      case Name.cause: causes.append(text)
      case Name.answer: answer = text
      case Name.topic: topic = text
      case Name.partition: partition = Int32(text)
      case Name.offset: offset = Int64(text)
      case Name.timestamp: timestamp = Int64(text)
      case Name.attempt: attempt = Int(text).map { max(0, $0) } ?? 0
      case Name.delayedAt: delayedAt = Self.moment(text)
      case Name.due: due = Self.moment(text)
      case Name.deadline: deadline = Self.moment(text)
      case Name.behind: behind = text
      case Name.replayMode: mode = ReplayMode(rawValue: text)
      case Name.replayWhy: why = text
      case Self.replayIDHeader: id = text
      default: break
      }
    }
    if let topic, let partition, let offset {
      first = RecordPosition(topic: topic, partition: partition, offset: offset)
    } else {
      first = RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)
    }
    firstTimestamp = timestamp ?? record.time(by: clock)?.millisecondsSince1970 ?? 0
    if let mode { replay = Replay(id: id, mode: mode, why: why) }
  }

  private static func moment(_ text: String) -> Timestamp? {
    Int64(text).map { Timestamp(millisecondsSince1970: $0) }
  }

  /// The headers that contain this history.
  package var headers: [RecordHeader] {
    var headers = [
      RecordHeader(Name.topic, first.topic), RecordHeader(Name.partition, String(first.partition)),
      RecordHeader(Name.offset, String(first.offset)), RecordHeader(Name.timestamp, String(firstTimestamp)),
      RecordHeader(Name.attempt, String(attempt)),
    ]
    if let delayedAt { headers.append(RecordHeader(Name.delayedAt, String(delayedAt.millisecondsSince1970))) }
    if let due { headers.append(RecordHeader(Name.due, String(due.millisecondsSince1970))) }
    if let deadline { headers.append(RecordHeader(Name.deadline, String(deadline.millisecondsSince1970))) }
    if let behind { headers.append(RecordHeader(Name.behind, behind)) }
    headers += causes.suffix(Self.maximumCauses).map { RecordHeader(Name.cause, $0) }
    if !answer.isEmpty { headers.append(RecordHeader(Name.answer, answer)) }
    if let replay {
      headers.append(RecordHeader(Self.replayIDHeader, replay.id))
      headers.append(RecordHeader(Name.replayMode, replay.mode.rawValue))
      if let why = replay.why { headers.append(RecordHeader(Name.replayWhy, why)) }
    }
    return headers
  }

  /// Returns the headers that are not part of a history.
  package static func original(_ headers: [RecordHeader]) -> [RecordHeader] { headers.filter { !isHistory($0) } }

  /// Whether a header is part of a history.
  static func isHistory(_ header: RecordHeader) -> Bool {
    // Most records have no history, so the first byte rules most headers out.
    switch header.name.utf8.first {
    case UInt8(ascii: "m"): header.name.hasPrefix(Name.prefix)
    case UInt8(ascii: "c"): header.name == replayIDHeader || header.name == sourceHeader
    default: false
    }
  }
}
