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

/// One record a lane has taken.
struct LaneItem: Sendable {
  // What never changes is read once and shared: an item is copied from queue to queue.
  private let content: Content
  var provenance: Provenance
  /// From which kind of topic it was read.
  var source: LaneSource
  /// The tier it goes to next, where its wait is not over when this tier is.
  var nextTier: Int?
  /// When its time on its tier is over; nil for records that do not wait.
  var due: Timestamp?

  init(_ record: ConsumerRecord, source: LaneSource) {
    self.source = source
    provenance = Provenance(record)
    content = Content(record, first: provenance.first)
  }

  private final class Content: Sendable {
    let record: ConsumerRecord
    let envelope: NotificationEnvelope
    let id: String
    let ledgerID: LedgerKey
    let key: [UInt8]
    let group: String
    let bytes: Int
    let typeLabel: String

    init(_ record: ConsumerRecord, first: RecordPosition) {
      self.record = record
      envelope = NotificationEnvelope(record.headers)
      id = envelope.id ?? "\(first.topic)/\(first.partition)/\(first.offset)"
      ledgerID = LedgerKey(id: id)
      key = record.key ?? Array(id.utf8)
      group = envelope.bundleId ?? ""
      bytes =
        (record.value?.count ?? 0) + (record.key?.count ?? 0)
        + record.headers.reduce(256) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
      typeLabel = Self.label(of: envelope)
    }

    private static func label(of envelope: NotificationEnvelope) -> String {
      guard let name = envelope.notificationType else { return "unknown" }
      let isKnown =
        switch envelope.version {
        case .v1: NotificationTypeV1(rawValue: name).isKnown
        case .found: name == FoundRefundRecord.typeName
        case .v2, nil: NotificationTypeV2(rawValue: name).isKnown
        }
      return isKnown ? name : "unknown"
    }
  }

  var record: ConsumerRecord { content.record }
  var envelope: NotificationEnvelope { content.envelope }

  var position: SourcePosition { SourcePosition(topic: record.topic, offset: record.offset) }

  /// How the ledger sees it come.
  var arrival: Arrival {
    switch source {
    case .live: .live
    case .retry: .retry(attempt: provenance.attempt, reapplying: provenance.replay?.mode == .reapply)
    case .replay:
      switch provenance.replay?.mode {
      case .reapply?: .reapply
      case .requeue?: .requeue
      case .plain?, nil: .replay
      }
    }
  }

  /// Who must not hold up the others: the app.
  var group: String { content.group }

  /// The notification before it, where it waits behind one.
  var behind: LedgerKey? {
    provenance.behind.flatMap { Hex.bytes(Array($0.utf8)) }.flatMap { LedgerKey($0) }
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
