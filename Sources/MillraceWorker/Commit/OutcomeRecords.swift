// The records that an outcome produces. They are created once: after an aborted transaction the worker writes them
// again.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords

/// Creates the records of one worker.
struct OutcomeRecords: Sendable {
  let topics: WorkerTopics
  let prefix: String

  /// The origin of a published event.
  struct Cause: Sendable {
    /// The id of the notification or timer.
    var id: String
    var key: String
    var traceParent: TraceParent?
    /// Set if the handler ran again at an operator's request. It distinguishes the new events from those they
    /// supersede.
    var revision: String?
  }

  /// Creates the record of an event. Its id is the same each time the handler runs.
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

  /// Whether the record's topic is one of the output topics that the worker declares. The worker checks at start that these exist.
  func isDeclared(_ record: OutputRecord) -> Bool { topics.outputTopics.contains(prefix + record.topic) }

  /// Creates a record for a topic other than the events topic.
  func output(_ record: OutputRecord) -> ProducerRecord {
    ProducerRecord(
      topic: prefix + record.topic, key: Array(record.key.utf8), value: record.value,
      headers: (record.contentType.map { [RecordHeader("content-type", $0)] } ?? []) + record.headers)
  }

  /// Creates the copy of a delayed record: same bytes, key and partition, with its delivery history in headers.
  func delayed(_ record: ConsumerRecord, on topic: String, history: DeliveryHistory) -> ProducerRecord {
    ProducerRecord(
      topic: topic, partition: record.partition, key: record.key, value: record.value,
      headers: DeliveryHistory.original(record.headers) + history.headers)
  }

  /// Creates the dead letter of a record.
  func deadLetter(_ record: ConsumerRecord, _ letter: DeadLetter, history: DeliveryHistory) -> ProducerRecord {
    let whole = ProducerRecord(
      topic: topics.deadLetters, partition: record.partition, key: record.key, value: record.value,
      headers: DeliveryHistory.original(record.headers) + history.headers + letter.headers)
    guard whole.isTooLarge else { return whole }
    // The dead letter still names the position of the record, even without a copy of it.
    var letter = letter
    letter.remedy += "; the record is too large to copy and is only at its original position"
    return ProducerRecord(
      topic: topics.deadLetters, partition: record.partition, value: nil, headers: history.headers + letter.headers)
  }

  /// Creates the dead letter of a timer.
  func deadLetter(_ timer: NamedTimer, _ letter: DeadLetter, lane: Int32) -> ProducerRecord {
    ProducerRecord(
      topic: topics.deadLetters, partition: lane, key: timer.timer.key, value: timer.timer.payload,
      headers: timer.headers + letter.headers)
  }
}
