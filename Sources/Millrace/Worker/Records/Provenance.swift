// Where a record came from and what happened to it since: the headers that parked, replayed and dead records carry
// beside the ones they came with.

public import AppStore
public import Kafka

/// The history of a record on its way through a worker's topics. A record read from its first topic has none of these
/// headers: it starts its history there.
public struct Provenance: Sendable, Hashable {
  /// Why a replayed record is on the replay topic.
  public enum ReplayMode: String, Sendable, Hashable, CaseIterable {
    /// A notification that was handled stays handled.
    case plain
    /// Handlers run again; only events that differ are emitted, effects are never repeated.
    case reapply
    /// A dead letter is tried again.
    case requeue
    /// A dead letter of a run that reapplied is tried again, and handlers run again for what is handled.
    case requeueReapply = "requeue-reapply"

    /// Whether handlers run again for what is handled.
    public var reapplies: Bool { self == .reapply || self == .requeueReapply }
    /// Whether a dead letter is tried again.
    public var isRequeue: Bool { self == .requeue || self == .requeueReapply }
  }

  /// A record that was sent again.
  public struct Replay: Sendable, Hashable {
    /// `ce_replayid`: names the run.
    public var id: String
    /// How it is to be treated.
    public var mode: ReplayMode
    /// What the operator gave as reason.
    public var why: String?
  }

  /// Where the record was first read.
  public var first: RecordPosition
  /// When it was first written, milliseconds since 1970.
  public var firstTimestamp: Int64
  /// How often its handler has run before; 0 for a new record.
  public var attempt: Int
  /// When it was put on the topic it stands on, by the worker's clock; nil for records that were not parked.
  public var parkedAt: Timestamp?
  /// What it waits for; it may go through several tiers until then. Nil for records that were not parked.
  public var due: Timestamp?
  /// When it is worth nothing any more, as its handler said; nil: never.
  public var deadline: Timestamp?
  /// Set where it waits behind another of its key (`ordering: strict`): that one's ledger key in hexadecimal.
  public var behind: String?
  /// Why it was parked or died, oldest first, at most ``maximumCauses``.
  public var causes: [String]
  /// Set for records on the replay topic.
  public var replay: Replay?

  /// Older causes are dropped: a record that fails for a week must not outgrow its topic.
  static let maximumCauses = 16

  /// Whether handlers run again for it although it is handled.
  var reapplies: Bool { replay?.mode.reapplies ?? false }
  /// Whether it is a dead letter that is tried again.
  var isRequeued: Bool { replay?.mode.isRequeue ?? false }

  /// The header that names the run a copy was sent by.
  package static let replayIDHeader = "ce_replayid"

  private enum Name {
    static let prefix = "millrace-"
    static let topic = "millrace-first-topic"
    static let partition = "millrace-first-partition"
    static let offset = "millrace-first-offset"
    static let timestamp = "millrace-first-timestamp"
    static let attempt = "millrace-attempt"
    static let parkedAt = "millrace-parked-at"
    static let due = "millrace-due"
    static let deadline = "millrace-deadline"
    static let behind = "millrace-behind"
    static let cause = "millrace-cause"
    static let replayMode = "millrace-replay-mode"
    static let replayWhy = "millrace-replay-why"
  }

  /// Reads the history a record carries. What is missing or garbled reads as the beginning: a history is never a reason
  /// to refuse a record.
  public init(_ record: ConsumerRecord) { self.init(record, hasHistory: true) }

  /// - Parameter hasHistory: Whether any of the headers may be one of a history.
  init(_ record: ConsumerRecord, hasHistory: Bool) {
    var (topic, partition, offset): (String?, Int32?, Int64?)
    var (timestamp, mode, why): (Int64?, ReplayMode?, String?)
    var id = ""
    causes = []
    attempt = 0
    // Asked for every record that is read: no table of the headers, one look at each.
    for header in hasHistory ? record.headers : [] where Self.isHistory(header) {
      guard let value = header.value, let text = String(validating: value, as: UTF8.self) else { continue }
      switch header.name {
      case Name.cause: causes.append(text)
      case Name.topic: topic = text
      case Name.partition: partition = Int32(text)
      case Name.offset: offset = Int64(text)
      case Name.timestamp: timestamp = Int64(text)
      case Name.attempt: attempt = Int(text).map { max(0, $0) } ?? 0
      case Name.parkedAt: parkedAt = Self.moment(text)
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
    firstTimestamp = timestamp ?? record.timestamp ?? 0
    if let mode { replay = Replay(id: id, mode: mode, why: why) }
  }

  private static func moment(_ text: String) -> Timestamp? {
    Int64(text).map { Timestamp(millisecondsSince1970: $0) }
  }

  /// The headers that carry this history.
  var headers: [RecordHeader] {
    var headers = [
      RecordHeader(Name.topic, first.topic), RecordHeader(Name.partition, String(first.partition)),
      RecordHeader(Name.offset, String(first.offset)), RecordHeader(Name.timestamp, String(firstTimestamp)),
      RecordHeader(Name.attempt, String(attempt)),
    ]
    if let parkedAt { headers.append(RecordHeader(Name.parkedAt, String(parkedAt.millisecondsSince1970))) }
    if let due { headers.append(RecordHeader(Name.due, String(due.millisecondsSince1970))) }
    if let deadline { headers.append(RecordHeader(Name.deadline, String(deadline.millisecondsSince1970))) }
    if let behind { headers.append(RecordHeader(Name.behind, behind)) }
    headers += causes.suffix(Self.maximumCauses).map { RecordHeader(Name.cause, $0) }
    if let replay {
      headers.append(RecordHeader(Self.replayIDHeader, replay.id))
      headers.append(RecordHeader(Name.replayMode, replay.mode.rawValue))
      if let why = replay.why { headers.append(RecordHeader(Name.replayWhy, why)) }
    }
    return headers
  }

  /// The headers of `record` that are not history: what it came with.
  static func original(_ headers: [RecordHeader]) -> [RecordHeader] { headers.filter { !isHistory($0) } }

  /// Whether a header is none that the record came with.
  static func isHistory(_ header: RecordHeader) -> Bool {
    // Most records have no history, so their headers are told from it by a byte.
    switch header.name.utf8.first {
    case UInt8(ascii: "m"): header.name.hasPrefix(Name.prefix)
    case UInt8(ascii: "c"): header.name == replayIDHeader || header.name == SentCopy.sourceHeader
    default: false
    }
  }
}
