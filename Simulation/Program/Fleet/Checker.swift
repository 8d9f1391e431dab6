// Compares the committed records, and the effects outside of Kafka, with the promises of a worker.

internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

@testable internal import PlantedWorker

struct Checker {
  private let fleet: Fleet
  private let required: Set<String>
  private let events: [Event]
  /// The reasons of the dead letters, by notification or timer.
  private let dead: [String: String]

  /// An event of the worker.
  struct Event {
    var id: String
    var name: String
    var notification: String
    var key: String
    var body: String
    var partition: Int32
    var offset: Int64

    init(_ record: ConsumerRecord) {
      id = Fleet.header("ce_id", of: record)
      name = String(Fleet.header("ce_type", of: record).split(separator: ".").last ?? "")
      notification = Fleet.header("ce_notificationid", of: record)
      key = String(decoding: record.key ?? [], as: UTF8.self)
      body = String(decoding: record.value ?? [], as: UTF8.self)
      (partition, offset) = (record.partition, record.offset)
    }

    /// A field of the body, which is flat JSON.
    func field(_ name: String) -> String? {
      let parts = body.split(whereSeparator: { "{}:,\"".contains($0) })
      return parts.firstIndex { $0 == name }.flatMap { parts.indices.contains($0 + 1) ? String(parts[$0 + 1]) : nil }
    }
  }

  init(_ fleet: Fleet, required: Set<String>) {
    (self.fleet, self.required) = (fleet, required)
    events = fleet.cluster.records(in: fleet.topics.events).map(Event.init)
    dead = Dictionary(
      fleet.cluster.records(in: fleet.topics.deadLetters).map {
        (NamedTimer($0)?.name ?? Fleet.header("ce_id", of: $0), Fleet.header("millrace-reason", of: $0))
      }
    ) { $1 }
  }

  private var answers: [Event] { events.filter { $0.name == "answer" } }

  /// The accepted notifications without an event or a dead letter.
  var unanswered: [String] {
    required.subtracting(answers.map(\.notification)).subtracting(dead.keys).sorted()
  }

  /// The timers of answered notifications that have not fired. Without transactions, the deletion of a topic can lose the
  /// rest of an outcome whose event is written.
  var missingTimers: [String] {
    let fired = Set(events.filter { $0.name == "fired" }.compactMap { $0.field("timer") })
    let set = Set(answers.map(\.notification)).filter {
      required.contains($0) && Work($0)?.setsTimer ?? false
    }.map { "timer-\($0)" }
    return Set(set).subtracting(fired).subtracting(dead.keys).sorted()
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
    check("done without an event", doneWithoutEvent)
    guard fleet.plan.commit == .transactional else { return problems }
    check("events twice", repeated(events.map(\.id)))
    check("answers twice", repeated(answers.map(\.notification)))
    check("timers twice", repeated(events.compactMap { $0.name == "fired" ? $0.field("timer") : nil }))
    check("answered and dead", answers.map(\.notification).filter { dead[$0] != nil })
    check("counts of a key", wrongCounts)
    check("order of a key", wrongOrder)
    return problems
  }

  private func repeated(_ names: [String]) -> [String] {
    Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }.keys.sorted()
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
    var ledger = Ledger()
    for record in fleet.cluster.records(in: fleet.topics.ledger) {
      do { try ledger.restore(record) } catch { return ["the ledger cannot be read: \(error)"] }
    }
    let answered = Set(answers.map(\.notification))
    return fleet.accepted.map(\.id).filter { id in
      guard case .done? = ledger[LedgerKey(id: id)]?.state else { return false }
      return !answered.contains(id) && dead[id] == nil
    }
  }

  /// Each answer has the number of answers of its key so far, which the worker keeps as a state.
  private var wrongCounts: [String] {
    Dictionary(grouping: answers, by: \.key).sorted { $0.key < $1.key }.compactMap { key, events in
      let counts = events.sorted { $0.offset < $1.offset }.map { Int($0.field("count") ?? "") ?? -1 }
      return counts == Array(1...counts.count) ? nil : "\(key) \(counts)"
    }
  }

  /// Notifications of a key are handled in their order, unless they are delayed; with strict order, also then.
  private var wrongOrder: [String] {
    guard !fleet.plan.steps.contains(where: { if case .recreate = $0.fault { true } else { false } }) else { return [] }
    let isStrict = fleet.plan.ordering == .strict
    let expected = Dictionary(grouping: fleet.accepted, by: \.key)
    return Dictionary(grouping: answers, by: \.key).sorted { $0.key < $1.key }.compactMap { key, events in
      let order = events.sorted { $0.offset < $1.offset }.map(\.notification).filter {
        isStrict || !(Work($0)?.isDelayed ?? true)
      }
      let wanted = (expected[key] ?? []).map(\.id).filter(Set(order).contains)
      return order == wanted ? nil : "\(key) \(order)"
    }
  }
}
