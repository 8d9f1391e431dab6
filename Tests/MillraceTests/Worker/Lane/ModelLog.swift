// The log of the lane model: topics, committed offsets, and the calls that effects made.

import AppStore

@testable import MillraceWorker

/// A record of a source topic.
struct ModelRecord: Sendable, Hashable {
  var id: Int
  var key: UInt8
  var arrival: Arrival
  /// The time of the append, set by the log.
  var appended = Timestamp.second(0)
  /// The earliest time at which a delayed record may run.
  var due: Timestamp?
  /// Whether the record is a requeued dead letter, even if it was delayed since.
  var isRequeued = false
  /// With strict ordering, the notification that this one waits for.
  var behind: LedgerKey?

  /// Whether handlers run again for a handled notification.
  var isReapplied: Bool {
    switch arrival {
    case .reapply, .retry(_, reapplying: true), .requeue(reapplying: true): true
    case .live, .retry, .replay, .requeue: false
    }
  }
}

/// An event of a handler.
struct ModelEvent: Sendable, Hashable {
  var id: Int
  /// The version of the handler. A reapplied notification publishes an event only if the version differs.
  var version: UInt32
}

/// An outcome to be written to Kafka.
struct ModelWrite: Sendable {
  var finishes: SourcePosition?
  var job: UInt64?
  var events: [ModelEvent] = []
  var delayed: [(delayIndex: Int, record: ModelRecord)] = []
  var dead: [ModelRecord] = []
  var entries: [LedgerEntry] = []
  /// The handler that waits for this intent to be durable before it calls.
  var intentOf: UInt64?
}

struct ModelLog {
  static let indices: [Duration] = [.seconds(10), .seconds(60), .seconds(600)]
  static let sources = ["live", "replay", "retry.0", "retry.1", "retry.2"]

  var topics: [String: [ModelRecord]] = [:]
  var committed: [String: Int64] = [:]
  var events: [ModelEvent] = []
  var dead: [ModelRecord] = []
  var ledger: [LedgerEntry] = []
  /// The request bodies of each effect.
  var calls: [String: [[UInt8]]] = [:]

  func end(of topic: String) -> Int64 { Int64(topics[topic]?.count ?? 0) }

  mutating func append(_ record: ModelRecord, to topic: String, at now: Timestamp) {
    var record = record
    record.appended = now
    topics[topic, default: []].append(record)
  }

  /// Returns the state of a notification in the ledger topic.
  func durableState(of id: Int) -> Handled.State? {
    for case .handled(.number(id), let handled) in ledger.reversed() { return handled?.state }
    return nil
  }

  func isEnded(_ effect: String) -> Bool {
    ledger.contains { if case .effect(effect, let value) = $0, case .ended? = value?.progress { true } else { false } }
  }

  /// Writes a batch in the order of `mode`, at most `steps` entries.
  /// - Returns: Whether the whole batch was written.
  mutating func commit(
    _ writes: [ModelWrite], offsets: [SourcePosition], mode: CommitProtocol.Mode, steps: Int, now: Timestamp
  ) -> Bool {
    var left = mode == .transactional && steps < .max ? 0 : steps
    for write in writes {
      for event in write.events where spend(&left) { events.append(event) }
      for (delayIndex, record) in write.delayed where spend(&left) {
        append(record, to: "retry.\(delayIndex)", at: now)
      }
      for record in write.dead where spend(&left) { dead.append(record) }
    }
    for entry in writes.flatMap(\.entries) where spend(&left) { ledger.append(entry) }
    guard spend(&left) else { return false }
    for offset in offsets { committed[offset.topic] = offset.offset }
    return true
  }

  private func spend(_ steps: inout Int) -> Bool {
    guard steps > 0 else { return false }
    steps -= 1
    return true
  }
}
