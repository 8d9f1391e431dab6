// A record inside a lane, with the facts that are known before it is decoded.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

/// The kind of topic that a record was read from.
enum LaneSource: Sendable, Hashable {
  case live
  /// A retry topic, by its index among the retry delays.
  case retry(Int)
  case replay
}

extension WorkerTopics {
  /// Returns the kind of source that a topic is.
  func source(of topic: String) -> LaneSource {
    if topic == replay { return .replay }
    return retries.firstIndex(of: topic).map { .retry($0) } ?? .live
  }
}

/// One record that a lane has read.
struct LaneItem: Sendable {
  // The immutable part is parsed once and shared, because items are copied from queue to queue.
  private let content: Content
  var source: LaneSource
  /// The number of earlier handler runs.
  var attempt: Int
  /// The time after which the record is no longer worth handling; nil if there is none.
  var deadline: Timestamp?
  /// The next retry topic, if the record has to wait longer than the delay of the current one.
  var nextDelayIndex: Int?
  /// When the delay of its current retry topic ends; nil for records that are not delayed.
  var due: Timestamp?
  /// The excerpt of the answer to this process's last attempt, which may be empty; nil if there was no answer.
  var excerpt: String?

  init(_ record: ConsumerRecord, source: LaneSource, clock: MillraceClock = .system) {
    var memory = Memory()
    self.init(record, source: source, clock, &memory)
  }

  private init(_ record: ConsumerRecord, source: LaneSource, _ clock: MillraceClock, _ memory: inout Memory) {
    self.source = source
    content = Content(record, source, clock, &memory)
    attempt = content.history.attempt
    deadline = content.history.deadline
  }

  /// Creates items for records that were read together.
  /// - Parameter clock: The clock that determines when they were written.
  static func batch(
    _ records: [ConsumerRecord], source: LaneSource, clock: MillraceClock = .system
  ) -> [LaneItem] {
    var memory = Memory()
    return records.map { LaneItem($0, source: source, clock, &memory) }
  }

  /// The parsed headers of the previous record, which are reused if they are the same.
  private struct Memory {
    var envelope = EnvelopeMemory()
    var label: (type: String?, version: NotificationEnvelope.Version?, text: String)?
  }

  private final class Content: Sendable {
    let record: ConsumerRecord
    let position: SourcePosition
    let envelope: NotificationEnvelope
    let history: DeliveryHistory
    let id: String
    let ledgerID: LedgerKey
    let key: [UInt8]
    let group: String
    let bytes: Int
    let typeLabel: String
    let written: Timestamp

    init(_ record: ConsumerRecord, _ source: LaneSource, _ clock: MillraceClock, _ memory: inout Memory) {
      self.record = record
      written = record.time(by: clock) ?? Timestamp(millisecondsSince1970: 0)
      position = SourcePosition(topic: record.topic, offset: record.offset)
      let layout = memory.envelope.layout(of: record.headers)
      // The headers of a family's topic are not trusted, because any producer may have written them.
      history = DeliveryHistory(record, hasHistory: layout.hasHistory && source != .live, clock: clock)
      envelope = NotificationEnvelope(record.headers, layout, &memory.envelope)
      let first = history.first
      id = envelope.id ?? "\(first.topic)/\(first.partition)/\(first.offset)"
      ledgerID = LedgerKey(id: id)
      key = record.key ?? Array(id.utf8)
      group = envelope.bundleId ?? ""
      bytes = 256 + Self.bytes(of: record)
      if let label = memory.label, label.type == envelope.notificationType, label.version == envelope.version {
        typeLabel = label.text
      } else {
        typeLabel = Self.label(of: envelope)
        memory.label = (envelope.notificationType, envelope.version, typeLabel)
      }
    }

    private static func bytes(of record: ConsumerRecord) -> Int {
      var bytes = (record.value?.count ?? 0) + (record.key?.count ?? 0)
      for index in record.headers.indices {
        bytes += record.headers[index].name.utf8.count + (record.headers[index].value?.count ?? 0)
      }
      return bytes
    }

    private static func label(of envelope: NotificationEnvelope) -> String {
      guard let name = envelope.notificationType else { return "unknown" }
      let isKnown =
        switch envelope.version {
        case .v1: known.v1.contains(name)
        case .found: name == FoundRefundRecord.typeName
        case .request: name == ImportRecord.typeName
        case .v2, nil: known.v2.contains(name)
        }
      return isKnown ? name : "unknown"
    }

    private static let known = (
      v1: Set(NotificationTypeV1.allKnown.map(\.rawValue)), v2: Set(NotificationTypeV2.allKnown.map(\.rawValue))
    )
  }

  var record: ConsumerRecord { content.record }
  var envelope: NotificationEnvelope { content.envelope }
  /// The record's delivery history up to now.
  var history: DeliveryHistory {
    var history = content.history
    history.attempt = attempt
    history.deadline = deadline
    if let excerpt { history.answer = excerpt }
    return history
  }
  /// The delivery history, including the run that has just ended.
  var historyAfterRun: DeliveryHistory {
    var history = history
    history.attempt += 1
    return history
  }
  /// Set for records that were replayed or requeued.
  var replay: DeliveryHistory.Replay? { content.history.replay }
  /// Whether the handler runs even if the notification was handled before.
  var isReapplied: Bool { content.history.reapplies }
  /// The name of the record in a replay with `--reapply`; nil for other records. A replay can have several records of a
  /// notification, because Apple posts some more than once.
  var reapply: String? { isReapplied ? replay.map { "\($0.id)/\(content.history.first)" } : nil }
  /// Whether the record is a requeued dead letter.
  var isRequeued: Bool { content.history.isRequeued }
  /// When the record was first written to Kafka.
  var firstWritten: Timestamp { Timestamp(millisecondsSince1970: content.history.firstTimestamp) }
  /// When the record was written to its current retry topic; nil for records that are not delayed.
  var delayedAt: Timestamp? { content.history.delayedAt }
  /// When the whole wait ends, which can span several retry topics; nil for records that are not delayed.
  var awaited: Timestamp? { content.history.due }

  /// When the record was written to the topic it was read from.
  var written: Timestamp { content.written }
  var position: SourcePosition { content.position }

  /// The way the record arrived, for the ledger's verdict.
  var arrival: Arrival {
    switch source {
    case .live: .live
    case .retry: .retry(attempt: attempt, reapplying: isReapplied)
    case .replay:
      switch replay?.mode {
      case .reapply?: .reapply
      case .requeue?: .requeue(reapplying: false)
      case .requeueReapply?: .requeue(reapplying: true)
      case .plain?, nil: .replay
      }
    }
  }

  /// The app. The backlog of one group does not delay other groups.
  var group: String { content.group }

  /// The notification that the record waits for in strict order, if any.
  var behind: LedgerKey? {
    content.history.behind.flatMap { Hex.bytes(Array($0.utf8)) }.flatMap { LedgerKey($0) }
  }

  /// The notification's id in the ledger. A record without an id is identified by its first position.
  var id: String { content.id }
  /// The ledger key of ``id``.
  var ledgerID: LedgerKey { content.ledgerID }

  /// The ordering key. Records without a key have no order, so each has a key of its own.
  var key: [UInt8] { content.key }

  /// The approximate memory use, in bytes.
  var bytes: Int { content.bytes }

  /// Whether the record is the event that tells consumers of an erasure. It must reach them although the customer is
  /// erased.
  var announcesErasure: Bool {
    guard let type = record.headers.last(where: { $0.name == "ce_type" })?.value else { return false }
    return ErasureEvent.worker(ofType: type) != nil
  }

  /// The value of the metric label `type`, from a closed set.
  var typeLabel: String { content.typeLabel }
}
