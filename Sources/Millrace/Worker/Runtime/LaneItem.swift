// A record inside a lane: what is known of it before anything expensive was done.

internal import AppStore
internal import Kafka

/// From which kind of topic a lane takes a record.
enum LaneSource: Sendable, Hashable {
  case live
  /// The tier, by its place among the delays.
  case retry(Int)
  case replay
}

/// What a handler is to see, one of a key at a time.
enum LaneWork: Sendable {
  case record(LaneItem)
  /// A timer that is due, by its name.
  case timer(String)
}

/// One record a lane has taken.
struct LaneItem: Sendable {
  // What never changes is read once and shared: an item is copied from queue to queue.
  private let content: Content
  /// From which kind of topic it was read.
  var source: LaneSource
  /// How often its handler has run before.
  var attempt: Int
  /// When it is worth nothing any more; nil: never.
  var deadline: Timestamp?
  /// The tier it goes to next, where its wait is not over when this tier is.
  var nextTier: Int?
  /// When its time on its tier is over; nil for records that do not wait.
  var due: Timestamp?

  init(_ record: ConsumerRecord, source: LaneSource) {
    var memory = Memory()
    self.init(record, source: source, &memory)
  }

  private init(_ record: ConsumerRecord, source: LaneSource, _ memory: inout Memory) {
    self.source = source
    content = Content(record, &memory)
    attempt = content.provenance.attempt
    deadline = content.provenance.deadline
  }

  /// Records that were read together.
  static func batch(_ records: [ConsumerRecord], source: LaneSource) -> [LaneItem] {
    var memory = Memory()
    return records.map { LaneItem($0, source: source, &memory) }
  }

  /// What was read of the record before.
  private struct Memory {
    var envelope = EnvelopeMemory()
    var label: (type: String?, version: NotificationEnvelope.Version?, text: String)?
  }

  private final class Content: Sendable {
    let record: ConsumerRecord
    let position: SourcePosition
    let envelope: NotificationEnvelope
    let provenance: Provenance
    let id: String
    let ledgerID: LedgerKey
    let key: [UInt8]
    let group: String
    let bytes: Int
    let typeLabel: String

    init(_ record: ConsumerRecord, _ memory: inout Memory) {
      self.record = record
      position = SourcePosition(topic: record.topic, offset: record.offset)
      let layout = memory.envelope.layout(of: record.headers)
      provenance = Provenance(record, hasHistory: layout.hasHistory)
      envelope = NotificationEnvelope(record.headers, layout, &memory.envelope)
      let first = provenance.first
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
  /// Where it came from and what happened to it since, up to now.
  var provenance: Provenance {
    var provenance = content.provenance
    provenance.attempt = attempt
    provenance.deadline = deadline
    return provenance
  }
  /// The same with the run that has just ended.
  var provenanceAfterRun: Provenance {
    var provenance = provenance
    provenance.attempt += 1
    return provenance
  }
  /// Set where it was sent again.
  var replay: Provenance.Replay? { content.provenance.replay }
  /// Whether handlers run again for it although it is handled.
  var isReapplied: Bool { content.provenance.reapplies }
  /// Whether it is a dead letter that is tried again.
  var isRequeued: Bool { content.provenance.isRequeued }
  /// When it was first written.
  var firstWritten: Timestamp { Timestamp(millisecondsSince1970: content.provenance.firstTimestamp) }
  /// When it was put on the tier it stands on; nil for records that were not parked.
  var parkedAt: Timestamp? { content.provenance.parkedAt }
  /// What it waits for, through several tiers perhaps; nil for records that were not parked.
  var awaited: Timestamp? { content.provenance.due }

  /// When the record was written to the topic it was read from.
  var written: Timestamp { Timestamp(millisecondsSince1970: content.record.timestamp ?? 0) }
  /// Where it stands there.
  var position: SourcePosition { content.position }

  /// How the ledger sees it come.
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

  /// Who must not hold up the others: the app.
  var group: String { content.group }

  /// The notification before it, where it waits behind one.
  var behind: LedgerKey? {
    content.provenance.behind.flatMap { Hex.bytes(Array($0.utf8)) }.flatMap { LedgerKey($0) }
  }

  /// What the ledger knows it by. A record without an id is known by where it first stood.
  var id: String { content.id }
  /// That, as the ledger has it.
  var ledgerID: LedgerKey { content.ledgerID }

  /// What orders it. Records without a key have no order among each other, so each is a key of its own.
  var key: [UInt8] { content.key }

  /// What it costs in memory.
  var bytes: Int { content.bytes }

  /// The label `type` of metrics, from a closed set.
  var typeLabel: String { content.typeLabel }
}
