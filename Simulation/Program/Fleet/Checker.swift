// Compares the committed records, and the effects outside of Kafka, with the promises of a worker.

internal import AppStore
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

@testable internal import PlantedWorker

struct Checker {
  private let fleet: Fleet
  private let required: Set<String>
  private let events: [Event]
  /// The reasons of the dead letters that no operator has settled, by notification or timer.
  private let dead: [String: String]
  private let operators: Operators.Work
  private let ledgers: Ledgers

  /// An event of the worker.
  struct Event {
    var id: String
    var name: String
    /// The event's name with all its parts, such as `entitlement.revoked`.
    var type: String
    var notification: String
    var key: String
    var body: String
    /// Whether a reapply has published it after another one.
    var isReapplied: Bool
    var partition: Int32
    var offset: Int64

    init(_ record: ConsumerRecord) {
      id = Fleet.header("ce_id", of: record)
      name = String(Fleet.header("ce_type", of: record).split(separator: ".").last ?? "")
      // dev.millrace.<worker>.<name>
      type = Fleet.header("ce_type", of: record).split(separator: ".").dropFirst(3).joined(separator: ".")
      notification = Fleet.header("ce_notificationid", of: record)
      key = String(decoding: record.key ?? [], as: UTF8.self)
      body = String(decoding: record.value ?? [], as: UTF8.self)
      isReapplied = !Fleet.header("ce_supersedes", of: record).isEmpty
      (partition, offset) = (record.partition, record.offset)
    }

    /// The body; empty if it is no JSON object.
    var json: JSONObject { JSONObject(body) }

    /// A field of the body, which is flat JSON.
    func field(_ name: String) -> String? {
      let parts = body.split(whereSeparator: { "{}:,\"".contains($0) })
      return parts.firstIndex { $0 == name }.flatMap { parts.indices.contains($0 + 1) ? String(parts[$0 + 1]) : nil }
    }
  }

  init(_ fleet: Fleet, required: Set<String>) {
    (self.fleet, self.required) = (fleet, required)
    events = fleet.records(\.events).map(Event.init)
    let operators = fleet.operators.work
    self.operators = operators
    // A reapply can set a timer again that is a dead letter.
    let fired = Set(events.filter { $0.name == "fired" && operators.isReapplied }.compactMap { $0.field("timer") })
    dead = Dictionary(
      fleet.records(\.deadLetters).filter { letter in
        !operators.hasSettled(letter) && !(NamedTimer(letter).map { fired.contains($0.name) } ?? false)
      }.map {
        (NamedTimer($0)?.name ?? Fleet.header("ce_id", of: $0), Fleet.header("millrace-reason", of: $0))
      }
    ) { $1 }
    ledgers = Ledgers(fleet.cluster.topics[fleet.topics.ledger]?.partitions ?? [])
  }

  private var answers: [Event] { events.filter { $0.name == "answer" } }

  /// The accepted notifications without an event or a dead letter.
  var unanswered: [String] {
    // A ledger entry that was overwritten says nothing, but an event does.
    let answered =
      fleet.workload == nil
      ? Set(answers.map(\.notification)) : canOverwriteLedger ? finished.union(events.map(\.notification)) : finished
    return required.subtracting(answered).subtracting(dead.keys).filter { !mayBeErased($0) }.sorted()
  }

  /// Whether a notification need not be answered, because its customer was erased after Apple had signed it. An erasure also
  /// discards the dead letters that there are when it is carried out.
  private func mayBeErased(_ id: String) -> Bool {
    guard let work = Work(id), let erased = operators.erasures[key(of: work)] else { return false }
    return fleet.signed[id].map { $0 <= erased } ?? true || operators.discarded.contains(id)
  }

  private func key(of work: Work) -> String { "k\(work.number % fleet.plan.keys)" }

  /// The notifications that the ledger lists as done.
  var finished: Set<String> { Set(fleet.accepted.map(\.id).filter(ledgers.isDone)) }

  /// The timers of answered notifications that have not fired. Without transactions, the deletion of a topic can lose the
  /// rest of an outcome whose event is written.
  var missingTimers: [String] {
    let fired = Set(events.filter { $0.name == "fired" }.compactMap { $0.field("timer") })
    let set = Set(answers.map(\.notification)).filter {
      // Without transactions, a process that dies can leave the event of a notification that becomes a dead letter.
      required.contains($0) && Work($0)?.setsTimer ?? false && dead[$0] == nil
    }.filter { !isBeforeErasure($0) }.map { "timer-\($0)" }
    return Set(set).subtracting(fired).subtracting(dead.keys).sorted()
  }

  /// Whether a notification was answered before its customer was erased.
  private func isBeforeErasure(_ id: String) -> Bool {
    guard let answer = answers.last(where: { $0.notification == id }) else { return false }
    return events.contains { $0.type == ErasureEvent.name && $0.key == answer.key && $0.offset > answer.offset }
  }

  func problems() -> [String] {
    var problems: [String] = []
    func check(_ what: String, _ found: some Collection<String>) {
      if !found.isEmpty { problems.append("\(what): \(found.prefix(6).joined(separator: ", "))") }
    }
    check("notifications without an event", unanswered)
    check("timers that did not fire", missingTimers)
    if !fleet.plan.canOverwriteLedger {
      check("effects with several bodies", fleet.journal.bodies.filter { $0.value.count > 1 }.keys.sorted())
    }
    let reasons = Set(dead.values).subtracting([PoisonDetector.reason])
    check("dead letters", dead.filter { reasons.contains($0.value) }.map { "\($0.key) \($0.value)" }.sorted())
    check("processes that gave up", gaveUp)
    check("the ledger cannot be read", ledgers.problems)
    check("commands that failed", operators.failures.sorted())
    if let workload = fleet.workload {
      problems += workload.problems(self)
    } else {
      check("done without an event", doneWithoutEvent)
    }
    guard fleet.plan.commit == .transactional else { return problems }
    check("events twice", Self.repeated(events.map { "\($0.id) \($0.type) of \($0.notification)" }))
    check("order of a key", wrongOrder)
    guard fleet.workload == nil else { return problems }
    check("answers twice", Self.repeated(answers.filter { !$0.isReapplied }.map(\.notification)))
    check("timers twice", repeatedTimers)
    check("reapplies without an event", missingReapplies)
    check("answered and dead", answers.map(\.notification).filter { dead[$0] != nil })
    check("counts of a key", wrongCounts)
    check("timers of erased customers", timersAfterErasure)
    return problems
  }

  static func repeated(_ names: [String]) -> [String] {
    Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }.keys.sorted()
  }

  /// The timers that fired more often than the handler has set them: once, and once for each reapply.
  private var repeatedTimers: [String] {
    let answered = Dictionary(answers.map { ("timer-\($0.notification)", 1) }, uniquingKeysWith: +)
    let fired = Dictionary(
      events.filter { $0.name == "fired" }.map { ($0.field("timer") ?? "", 1) }, uniquingKeysWith: +)
    return fired.filter { $0.value > answered[$0.key] ?? 1 }.keys.sorted()
  }

  /// The notifications that a reapply has run again, and whose new events do not exist. Each run counts on, so its event
  /// differs.
  private var missingReapplies: [String] {
    let ids = Set(events.map(\.id))
    return operators.reapplied.compactMap { run, record in
      let (id, position) = (Fleet.header("ce_id", of: record), DeliveryHistory(record).first)
      let event = EventIdentity.id(
        worker: fleet.topics.worker, notification: id, event: FleetHandler.Answer.eventName, ordinal: 0,
        revision: "\(run)/\(position)")
      let isErased = Work(id).map { operators.erasures[key(of: $0)] != nil } ?? false
      return ids.contains(event) || isErased ? nil : "\(id) of \(run)"
    }
  }

  /// The errors with which processes ended that a supervisor does not restart after. Of two processes with one name, one
  /// ends so.
  private var gaveUp: [String] {
    let ends = fleet.journal.ends.compactMap { machine, error, isReplaced -> String? in
      guard let error = error as? MillraceError, error.area == .membership || error.area == .configuration else {
        return nil
      }
      return isReplaced && error.area == .membership ? nil : "\(machine): \(error)"
    }
    return ends + fleet.machines.filter { $0.processCount != 1 }.map { "\($0.name) has \($0.processCount) processes" }
  }

  /// Notifications that the ledger lists as done although there is no event.
  private var doneWithoutEvent: [String] {
    finished.subtracting(answers.map(\.notification)).subtracting(dead.keys).filter { !mayBeErased($0) }.sorted()
  }

  /// Each answer has the number of answers of its key so far, which the worker keeps as a state. An erasure erases it.
  private var wrongCounts: [String] {
    let counted = events.filter { $0.name == "answer" || $0.type == ErasureEvent.name }
    return Dictionary(grouping: counted, by: \.key).sorted { $0.key < $1.key }.compactMap { key, events in
      let counts = events.sorted { $0.offset < $1.offset }.map { $0.field("count").flatMap { Int($0) } }
      let isRight = counts.split(separator: nil).allSatisfy { Array($0) == (1...$0.count).map(Optional.some) }
      return isRight ? nil : "\(key) \(counts.map { $0.map(String.init) ?? "erased" })"
    }
  }

  /// The timers that fired although their customers had been erased since they were set.
  private var timersAfterErasure: [String] {
    events.filter { fired in
      guard let id = fired.field("timer")?.dropFirst("timer-".count),
        let set = answers.last(where: { $0.notification == id })
      else { return false }
      return events.contains {
        $0.type == ErasureEvent.name && $0.key == set.key && set.offset < $0.offset && $0.offset < fired.offset
      }
    }.map(\.id)
  }

  /// Notifications of a key are handled in their order, unless they are delayed; with strict order, also then.
  private var wrongOrder: [String] {
    guard !fleet.plan.isRecreated else { return [] }
    let isStrict = fleet.plan.ordering == .strict
    let expected = Dictionary(grouping: fleet.accepted.filter { $0.topic == fleet.input }, by: \.key)
    let known = Set(expected.values.flatMap { $0 }.map(\.id))
    let events =
      fleet.workload == nil ? answers.filter { !$0.isReapplied } : events.filter { known.contains($0.notification) }
    return Dictionary(grouping: events, by: \.key).sorted { $0.key < $1.key }.compactMap { key, events in
      let order = events.sorted { $0.offset < $1.offset }.map(\.notification).filter {
        (isStrict || !fleet.isDelayed($0)) && !operators.retried.contains($0)
      }
      // A notification can have several events.
      let distinct = order.indices.filter { $0 == 0 || order[$0] != order[$0 - 1] }.map { order[$0] }
      let wanted = (expected[key] ?? []).map(\.id).filter(Set(order).contains)
      return (fleet.workload == nil ? order : distinct) == wanted ? nil : "\(key) \(order)"
    }
  }
}

// For the checks of workloads.
extension Checker {
  /// Whether a notification or timer is a dead letter, because processes were killed while it ran.
  func isDead(_ name: String) -> Bool { dead[name] != nil }
  /// Whether events are published once.
  var isExact: Bool { fleet.plan.commit == .transactional }
  var canOverwriteLedger: Bool { fleet.plan.canOverwriteLedger }
  var isRecreated: Bool { fleet.plan.isRecreated }

  func events(_ name: String, of notification: String) -> [JSONObject] {
    events.filter { $0.notification == notification && $0.type == name }.map(\.json)
  }

  func counter(_ name: String) -> Int { ledgers.counter(name) }

  /// The values of a compacted topic in their order, by key.
  func rows(in topic: String) -> [String: [JSONObject]] {
    Dictionary(grouping: fleet.cluster.records(in: topic)) { String(decoding: $0.key ?? [], as: UTF8.self) }
      .mapValues { $0.map { JSONObject(String(decoding: $0.value ?? [], as: UTF8.self)) } }
  }

  /// The notifications of the records on a topic, in their order.
  func ids(in topic: String) -> [String] { fleet.cluster.records(in: topic).map { Fleet.header("ce_id", of: $0) } }

  /// The keys of the notifications on the input topic that are not in the order in which they were accepted.
  func wrongOrder(of ids: [String]) -> [String] {
    guard !isRecreated else { return [] }
    let accepted = fleet.accepted.filter { $0.topic == fleet.input }
    let keys = Dictionary(accepted.map { ($0.id, $0.key) }) { $1 }
    let found = Dictionary(grouping: ids.filter { keys[$0] != nil }) { keys[$0] ?? "" }
    let expected = Dictionary(grouping: accepted, by: \.key).mapValues { $0.map(\.id) }
    return found.filter { key, ids in ids != (expected[key] ?? []).filter(Set(ids).contains) }.keys.sorted()
  }

  /// The events of each key in their order.
  var histories: [String: [JSONObject]] {
    Dictionary(grouping: events, by: \.key).mapValues { $0.sorted { $0.offset < $1.offset }.map(\.json) }
  }

  /// The texts that a field has in the events of a name.
  func values(of field: String, in name: String, where isWanted: (JSONObject) -> Bool = { _ in true }) -> [String] {
    events.filter { $0.type == name }.map(\.json).filter(isWanted).compactMap { $0.text(field) }
  }

  /// The newest values of a compacted topic, by key.
  func newest(in topic: String) -> [String: JSONObject] { rows(in: topic).compactMapValues(\.last) }

  /// Checks that there is one event of a name for each of the expected values, and no other. Without transactions, it may
  /// be repeated.
  /// - Parameters:
  ///   - field: The field with the value; nil: the event's notification.
  ///   - object: The object that has the field; nil: the event itself.
  ///   - possible: Values for which there may be an event.
  func once(
    _ name: String, by field: String? = nil, in object: String? = nil, for expected: Set<String>,
    or possible: Set<String> = []
  ) -> [String] {
    let values = events.filter { $0.type == name }.map { event in
      guard let field else { return event.notification }
      let json = object.flatMap { event.json.object($0) } ?? event.json
      return json.text(field) ?? "nothing"
    }
    let missing = expected.subtracting(values).sorted().map { "no \(name) for \($0)" }
    guard isExact else { return missing }
    return missing + Self.repeated(values).map { "\(name) twice for \($0)" }
      + Set(values).subtracting(expected.union(possible)).sorted().map { "\(name) for \($0)" }
  }
}

/// The ledgers of all lanes, read when they are needed.
private final class Ledgers {
  private let partitions: [PartitionLog]
  private(set) lazy var problems: [String] = content.problems
  private lazy var content = read()

  init(_ partitions: [PartitionLog]) { self.partitions = partitions }

  private func read() -> (ledgers: [Ledger], problems: [String]) {
    // A planted fault of the worker is none of the checker.
    let active = PlantedFault.active
    PlantedFault.active = nil
    defer { PlantedFault.active = active }
    var (ledgers, problems) = ([Ledger](), [String]())
    for partition in partitions {
      var ledger = Ledger()
      do { for record in partition.committed { try ledger.restore(record) } } catch { problems.append("\(error)") }
      ledgers.append(ledger)
    }
    return (ledgers, problems)
  }

  func isDone(_ id: String) -> Bool {
    content.ledgers.contains { if case .done? = $0[LedgerKey(id: id)]?.state { true } else { false } }
  }

  func counter(_ name: String) -> Int { content.ledgers.reduce(0) { $0 + Int($1.counter(name)) } }
}

extension JSONObject {
  /// Parses text; empty if it is no JSON object.
  init(_ text: String) {
    do { self = try JSONObject(parsing: Array(text.utf8)) } catch { self.init() }
  }

  var serializedText: String { String(decoding: serialized(), as: UTF8.self) }
  func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }
  func object(_ name: String) -> JSONObject? { if case .object(let object)? = self[name] { object } else { nil } }
  func time(_ name: String) -> Timestamp? { text(name).flatMap { Timestamp(rfc3339: $0) } }
}
