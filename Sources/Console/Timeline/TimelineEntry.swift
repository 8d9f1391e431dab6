// Converts records to the entries of a subscription's timeline. Pure.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker
internal import Operations

/// One entry of a timeline: a record, or the delays of one record.
package struct TimelineEntry: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case notification
    case event
    case call
    case delayed
    case dead
  }

  var kind: Kind
  /// The record's timestamp.
  var at: Timestamp
  /// The notification's type, the event's name, the call's name or the dead letter's reason.
  var title: String
  /// The family or the worker.
  var place: String
  var position: RecordPosition
  /// Further details, none of them from the payload.
  var facts: [Fact]
  /// The payload; nil unless the console shows payloads.
  var payload: String?
  /// The key of a dead letter; nil for other entries.
  var letter: DeadLetterKey?
  /// The record that a dead letter is about; nil for other entries.
  var first: RecordPosition?
  /// `ce_id` of a notification or an event; nil for other entries.
  var id: String?
  /// The delays that the entry belongs to; nil for other entries.
  var chain: Chain?
  /// The call, and its outcome at the time of this record; nil for other entries.
  var call: Call?

  /// An external call that a handler recorded.
  struct Call: Sendable, Hashable {
    var worker: String
    var name: String
    var outcome: Outcome

    enum Outcome: String, Sendable, Hashable, CaseIterable {
      case open = "not known yet"
      case answered = "answered"
      case withdrawn = "withdrawn: it was not made"
    }
  }

  struct Fact: Sendable, Hashable {
    var name: String
    var value: String
  }

  /// The delays of one record of a worker. The newest has the causes of all.
  struct Chain: Sendable, Hashable {
    var worker: String
    var first: RecordPosition
    /// The run that sent the record again; nil for an original.
    var run: String?
    var attempts: Int
  }
}

/// Selects the records of one subscription and converts them to timeline entries.
package struct TimelineBuilder: Sendable {
  let topics: ConsoleTopics
  /// The key of the subscription's records, usually its `originalTransactionId`.
  let subject: String
  let showsPayloads: Bool

  package init(topics: ConsoleTopics, subject: String, showsPayloads: Bool) {
    (self.topics, self.subject, self.showsPayloads) = (topics, subject, showsPayloads)
  }

  /// The kinds of topics that hold records of timelines.
  enum Source: Sendable, Hashable {
    case notifications(family: String)
    case events(worker: String)
    case ledger(worker: String)
    case retry(worker: String)
    case deadLetters(worker: String)
  }

  var sources: [String: Source] {
    var sources: [String: Source] = [:]
    for (topic, kind) in topics.kinds {
      switch kind {
      case .notifications(let family): sources[topic] = .notifications(family: family)
      case .events(let worker): sources[topic] = .events(worker: worker)
      case .retry(let worker, _): sources[topic] = .retry(worker: worker)
      case .deadLetters(let worker): sources[topic] = .deadLetters(worker: worker)
      case .quarantine, .replay, .operations, .campaigns, .backfills, .audit, .control, .ingress: break
      }
    }
    for worker in topics.workers {
      let ledger = WorkerTopics(worker: worker, inputs: [], delays: [], prefix: topics.prefix).ledger
      sources[ledger] = .ledger(worker: worker)
    }
    return sources
  }

  /// Converts a record to an entry; returns nil if the record belongs to another key.
  func entry(_ record: ConsumerRecord, of source: Source) -> TimelineEntry? {
    if case .ledger(let worker) = source { return call(record, by: worker) }
    guard record.key.map({ $0.elementsEqual(subject.utf8) }) ?? false else { return nil }
    switch source {
    case .notifications(let family): return notification(record, family)
    case .events(let worker): return event(record, worker)
    case .retry(let worker): return delayed(record, worker)
    case .deadLetters(let worker): return dead(record, worker)
    case .ledger: return nil
    }
  }

  private func notification(_ record: ConsumerRecord, _ family: String) -> TimelineEntry {
    let envelope = NotificationEnvelope(record.headers)
    var entry = entry(record, .notification, envelope.typeAndSubtype, family)
    entry.say("signed", envelope.time.map(Words.moment))
    entry.say("app", envelope.bundleId)
    entry.say("environment", envelope.environment?.rawValue)
    entry.say("origin", envelope.origin.map(\.rawValue))
    entry.say("id", envelope.id)
    entry.id = envelope.id
    if showsPayloads { entry.payload = Payload.text(record) }
    return entry
  }

  /// The type and subtype of a notification, or the name of an event.
  private func title(_ record: ConsumerRecord) -> String {
    let envelope = NotificationEnvelope(record.headers)
    let start = "dev.millrace."
    guard envelope.version == nil, let type = record.text("ce_type"), type.hasPrefix(start) else {
      return envelope.typeAndSubtype
    }
    // `dev.millrace.<worker>.<name>`; the name of a worker has no dots.
    return type.dropFirst(start.count).split(separator: ".", maxSplits: 1).last.map { String($0) } ?? type
  }

  private func event(_ record: ConsumerRecord, _ worker: String) -> TimelineEntry {
    var entry = entry(record, .event, title(record), worker)
    entry.say("about", record.text("ce_notificationid"))
    entry.say("supersedes", record.text("ce_supersedes"))
    entry.say("id", record.text("ce_id"))
    entry.id = record.text("ce_id")
    if showsPayloads { entry.payload = Payload.text(record) }
    return entry
  }

  private func delayed(_ record: ConsumerRecord, _ worker: String) -> TimelineEntry {
    let history = DeliveryHistory(record)
    var entry = entry(record, .delayed, title(record), worker)
    entry.chain = TimelineEntry.Chain(
      worker: worker, first: history.first, run: history.replay?.id, attempts: history.attempt)
    entry.say("attempts", "\(history.attempt)")
    entry.say("due", history.due.map(Words.moment))
    entry.say("waits", history.behind == nil ? nil : "behind an earlier record of this key")
    for cause in history.causes { entry.say("because", cause) }
    if history.causes.isEmpty, history.behind == nil {
      entry.say("because", "nothing has failed; the worker holds it, for example while a circuit is open")
    }
    return entry
  }

  private func dead(_ record: ConsumerRecord, _ worker: String) -> TimelineEntry? {
    guard let letter = DeadLetterEntry(record, of: worker) else { return nil }
    var entry = entry(record, .dead, letter.reason, worker)
    (entry.letter, entry.first) = (letter.key, letter.first)
    entry.say("type", title(record))
    entry.say("what", String(letter.detail.prefix(DeadLetterIndex.maximumDetail)))
    entry.say("attempts", "\(letter.attempts)")
    for cause in letter.causes { entry.say("because", cause) }
    return entry
  }

  private func call(_ record: ConsumerRecord, by worker: String) -> TimelineEntry? {
    guard let call = RecordedCall(record), call.name.split(separator: "/").contains(subject[...]) else { return nil }
    var entry = entry(record, .call, String(call.name.split(separator: "/").first ?? ""), worker)
    entry.say("name", call.name)
    entry.say("intended", call.intendedAt.map(Words.moment))
    var outcome = TimelineEntry.Call.Outcome.open
    switch call.outcome {
    case .open: break
    case .withdrawn: outcome = .withdrawn
    case .answered(let result):
      outcome = .answered
      if showsPayloads { entry.payload = Payload.excerpt(result) }
    }
    entry.call = TimelineEntry.Call(worker: worker, name: call.name, outcome: outcome)
    return entry
  }

  private func entry(
    _ record: ConsumerRecord, _ kind: TimelineEntry.Kind, _ title: String, _ place: String
  ) -> TimelineEntry {
    TimelineEntry(
      kind: kind, at: Timestamp(millisecondsSince1970: record.timestamp ?? 0), title: title, place: place,
      position: RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset), facts: [])
  }
}

extension TimelineEntry {
  mutating func say(_ name: String, _ value: String?) {
    if let value, !value.isEmpty { facts.append(Fact(name: name, value: value)) }
  }
}

/// Recognizes older delays of a chain while records are read backwards.
struct DelayChains: Sendable {
  private var attempts: [TimelineEntry.Chain: Int] = [:]

  /// Returns whether an entry is shown: it is no delay, or the newest of its chain.
  mutating func isNewest(_ entry: TimelineEntry) -> Bool {
    guard var chain = entry.chain else { return true }
    let count = chain.attempts
    chain.attempts = 0
    defer { attempts[chain] = count }
    // A requeued record counts its attempts from the beginning.
    return attempts[chain].map { count > $0 } ?? true
  }
}

/// Recognizes the intents of calls whose end is known while records are read backwards, newest first.
struct CallOutcomes: Sendable {
  private var known: Set<TimelineEntry.Call> = []

  /// Adds the outcome of its call to the next older entry.
  /// - Returns: Whether the entry is shown: it is no call, or its end, or an intent whose end is not known yet. The end has
  ///   the time of the intent.
  mutating func complete(_ entry: inout TimelineEntry) -> Bool {
    guard var call = entry.call else { return true }
    entry.say("outcome", call.outcome.rawValue)
    let isIntent = call.outcome == .open
    call.outcome = .open
    return known.insert(call).inserted || !isIntent
  }
}

/// Formats payloads for pages.
enum Payload {
  static let limit = 32 << 10

  /// Returns the decoded notification, or the value if it is text.
  static func text(_ record: ConsumerRecord) -> String? {
    let view = RecordView(record)
    let parts: [(String, JSONObject?)] = [
      ("payload", view.payload), ("transaction", view.transaction), ("renewalInfo", view.renewalInfo),
      ("appTransaction", view.appTransaction),
    ]
    let decoded = parts.compactMap { name, object in object.map { "\(name): \(indented(.object($0), 0))" } }
    if !decoded.isEmpty { return cut(decoded.joined(separator: "\n")) }
    return record.value.map(excerpt)
  }

  /// Returns bytes as text, with JSON indented.
  static func excerpt(_ bytes: [UInt8]) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { return "\(bytes.count) bytes that are not UTF-8" }
    // Text that is not JSON is shown unchanged.
    guard let json = try? JSON(parsing: bytes) else { return cut(text) }
    return cut(indented(json, 0))
  }

  private static func cut(_ text: String) -> String {
    text.utf8.count <= limit ? text : String(text.prefix(limit)) + "…"
  }

  private static func indented(_ json: JSON, _ depth: Int) -> String {
    let (inner, outer) = (String(repeating: "  ", count: depth + 1), String(repeating: "  ", count: depth))
    switch json {
    case .object(let object) where !object.members.isEmpty:
      let lines = object.members.map {
        "\(inner)\(String(decoding: JSON.string($0.key).serialized(), as: UTF8.self)): \(indented($0.value, depth + 1))"
      }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
    case .array(let values) where !values.isEmpty:
      return "[\n" + values.map { inner + indented($0, depth + 1) }.joined(separator: ",\n") + "\n\(outer)]"
    default: return String(decoding: json.serialized(), as: UTF8.self)
    }
  }
}
