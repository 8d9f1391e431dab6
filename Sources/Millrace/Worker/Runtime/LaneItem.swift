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
  var record: ConsumerRecord
  var envelope: NotificationEnvelope
  var provenance: Provenance
  /// From which kind of topic it was read.
  var source: LaneSource
  /// The tier it goes to next, where its wait is not over when this tier is.
  var nextTier: Int?
  /// When its time on its tier is over; nil for records that do not wait.
  var due: Timestamp?

  init(_ record: ConsumerRecord, source: LaneSource) {
    self.record = record
    self.source = source
    envelope = NotificationEnvelope(record.headers)
    provenance = Provenance(record)
  }

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
  var group: String { envelope.bundleId ?? "" }

  /// The notification before it, where it waits behind one.
  var behind: LedgerKey? {
    provenance.behind.flatMap { Hex.bytes(Array($0.utf8)) }.flatMap { LedgerKey($0) }
  }

  /// What the ledger knows it by. A record without an id is known by where it first stood.
  var id: String {
    envelope.id ?? "\(provenance.first.topic)/\(provenance.first.partition)/\(provenance.first.offset)"
  }

  /// What orders it. Records without a key have no order among each other, so each is a key of its own.
  var key: [UInt8] { record.key ?? Array(id.utf8) }

  /// What it costs in memory.
  var bytes: Int {
    (record.value?.count ?? 0) + (record.key?.count ?? 0)
      + record.headers.reduce(256) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
  }

  /// The label `type` of metrics, from a closed set.
  var typeLabel: String {
    guard let name = envelope.notificationType else { return "unknown" }
    let isKnown =
      envelope.version == .v1
      ? NotificationTypeV1(rawValue: name).isKnown : NotificationTypeV2(rawValue: name).isKnown
    return isKnown ? name : "unknown"
  }
}
