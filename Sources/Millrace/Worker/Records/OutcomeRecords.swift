// The records that follow from an outcome. Made once: an aborted transaction produces the same ones again.

public import AppStore
public import Kafka

/// Makes the records of one worker.
struct OutcomeRecords: Sendable {
  let topics: WorkerTopics
  let prefix: String

  /// What a published event says of where it comes from.
  struct Cause: Sendable {
    /// The notification, or the timer.
    var id: String
    var key: String
    var traceParent: TraceParent?
    /// Set where the handler ran again on an operator's word: it tells the new events from those they supersede.
    var revision: String?
  }

  /// An event, published under the identity that it has however often its handler runs.
  func event(_ event: EncodedEvent, ordinal: Int, of cause: Cause, at time: Timestamp) -> ProducerRecord {
    let id = EventIdentity.id(
      worker: topics.worker, notification: cause.id, event: event.name, ordinal: ordinal, revision: cause.revision)
    var extensions = ["notificationid": cause.id]
    if cause.revision != nil {
      extensions["supersedes"] = EventIdentity.id(
        worker: topics.worker, notification: cause.id, event: event.name, ordinal: ordinal)
    }
    let key = event.key ?? cause.key
    let attributes = CloudEvent(
      id: id, source: "millrace/\(topics.worker)", type: "dev.millrace.\(topics.worker).\(event.name)", subject: key,
      time: time, contentType: "application/json", extensions: extensions, traceParent: cause.traceParent)
    return ProducerRecord(topic: topics.events, key: Array(key.utf8), value: event.data, headers: attributes.headers)
  }

  /// Whether the worker says that it writes to the record's topic: it was looked for when the worker started.
  func isDeclared(_ record: OutputRecord) -> Bool { topics.tables.contains(prefix + record.topic) }

  /// A record for a topic that holds no events.
  func output(_ record: OutputRecord) -> ProducerRecord {
    ProducerRecord(
      topic: prefix + record.topic, key: Array(record.key.utf8), value: record.value,
      headers: record.contentType.map { [RecordHeader("content-type", $0)] } ?? [])
  }

  /// A record put aside: bytes, key and partition as they were, its history beside them.
  func parked(_ record: ConsumerRecord, on topic: String, history: Provenance) -> ProducerRecord {
    ProducerRecord(
      topic: topic, partition: record.partition, key: record.key, value: record.value,
      headers: Provenance.original(record.headers) + history.headers)
  }

  /// A record given to a person.
  func deadLetter(_ record: ConsumerRecord, _ letter: DeadLetter, history: Provenance) -> ProducerRecord {
    let whole = ProducerRecord(
      topic: topics.deadLetters, partition: record.partition, key: record.key, value: record.value,
      headers: Provenance.original(record.headers) + history.headers + letter.headers)
    guard whole.isTooLarge else { return whole }
    // Better a letter that names where the record stands than none.
    var letter = letter
    letter.remedy += "; the record is too large to be copied and stands only where it was read"
    return ProducerRecord(
      topic: topics.deadLetters, partition: record.partition, value: nil, headers: history.headers + letter.headers)
  }

  /// A timer given to a person.
  func deadLetter(_ dead: DeadTimer, _ letter: DeadLetter, lane: Int32) -> ProducerRecord {
    ProducerRecord(
      topic: topics.deadLetters, partition: lane, key: dead.timer.key, value: dead.timer.payload,
      headers: dead.headers + letter.headers)
  }
}

/// Why a record became a dead letter, and what a person can do.
public struct DeadLetter: Sendable, Hashable {
  /// A stable code, lower case with hyphens.
  public var reason: String
  /// What happened.
  public var detail: String
  /// What to do now.
  public var remedy: String
  /// When it died.
  public var at: Timestamp

  /// The header that says ``reason``.
  static let reasonHeader = "millrace-reason"

  private enum Name {
    static let detail = "millrace-detail"
    static let remedy = "millrace-remedy"
    static let at = "millrace-died-at"
  }

  /// A dead letter for this reason.
  public init(reason: String, detail: String, remedy: String, at: Timestamp) {
    self.reason = reason
    self.detail = detail
    self.remedy = remedy
    self.at = at
  }

  /// Reads what a dead letter's headers say; nil for a record that is none.
  public init?(_ headers: [RecordHeader]) {
    func text(_ name: String) -> String? {
      headers.last { $0.name == name }?.value.flatMap { String(validating: $0, as: UTF8.self) }
    }
    guard let reason = text(Self.reasonHeader) else { return nil }
    self.init(
      reason: reason, detail: text(Name.detail) ?? "", remedy: text(Name.remedy) ?? "",
      at: Timestamp(millisecondsSince1970: text(Name.at).flatMap { Int64($0) } ?? 0))
  }

  /// When a dead letter died, milliseconds since 1970, without reading anything else; nil for a record that is none.
  package static func diedAt(_ headers: [RecordHeader]) -> Int64? {
    headers.last { $0.name == Name.at }?.value.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
  }

  /// The headers that say it.
  var headers: [RecordHeader] {
    [
      RecordHeader(Self.reasonHeader, reason), RecordHeader(Name.detail, String(detail.prefix(1_000))),
      RecordHeader(Name.remedy, remedy), RecordHeader(Name.at, String(at.millisecondsSince1970)),
    ]
  }
}
