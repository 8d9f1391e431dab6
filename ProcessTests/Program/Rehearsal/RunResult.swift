// The results of one run, compared with the simulator's state.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import MillraceTime
import ScenarioRig

struct RunResult: Sendable {
  var workers: Int
  var faults: [String] = []
  var replay: RepeatRun.Result?
  let table: RehearsalTable
  /// The rows that must not depend on the number of processes.
  private(set) var outcome: [(title: String, value: String)] = []
  /// Rows that may differ.
  private(set) var measured: [(title: String, value: String)] = []
  private(set) var headline = ""

  init(
    workers: Int, _ environment: RehearsalEnvironment, _ observer: Rehearsal.Observer, _ participants: Participants,
    since began: Timestamp, killed: Range<Timestamp>?, twins: Int, lanes: [Int64: Int]
  ) {
    self.workers = workers
    table = RehearsalTable(environment, observer, twins: twins)
    let state = SimulatedState(environment, since: began)
    let events = observer.events
    faults += observer.unreadable
    if environment.deployment.isTransactional {
      let copies = Dictionary(events.map { ($0.id, 1) }, uniquingKeysWith: +)
      for (id, count) in copies where count > 1 { faults.append("the event \(id) was published \(count) times") }
    }
    judgeExtensions(events, participants, state)
    judgeRefunds(events, observer.table, RefundWave.truth(environment.simulator))
    judgeCalls(environment, state, killed, lanes)
    outcome.append(("version 1 twins", "\(twins)"))
    measured.append(("deliveries that failed", "\(environment.accepted.failures)"))
    headline = """
      \(state.failures.count) failures ended, \(observer.table.count) transactions in the table, \
      \(faults.isEmpty ? "as promised" : "NOT as promised")
      """
  }

  /// The simulator's state.
  private struct SimulatedState {
    /// The failures that Apple sent: subscription and time of the first receipt.
    var failures: [Int64: Timestamp] = [:]
    /// The number of extensions of each subscription since the start.
    var extensions: [Int64: Int] = [:]

    init(_ environment: RehearsalEnvironment, since began: Timestamp) {
      (failures, extensions) = environment.simulator.world.withState { state in
        var failures: [Int64: Timestamp] = [:]
        for record in state.realms[0].log.records {
          guard record.facts.kind.type == .renewalExtension,
            case .purchase(let transaction, _, _) = record.facts.content
          else { continue }
          failures[transaction.originalId] = environment.accepted[record.facts.uuid.text] ?? record.facts.signedDate
        }
        return (failures, state.subscriptions.mapValues { $0.extensions.count { $0 >= began } })
      }
    }
  }

  // MARK: - Extensions

  private mutating func judgeExtensions(
    _ events: [RehearsalEvents.Event], _ participants: Participants, _ state: SimulatedState
  ) {
    let own = events.filter { $0.name.hasPrefix("extension.") }
    // A killed process may have published events that others publish again: at least once, and always with the same id.
    var byFailure: [Int64: RehearsalEvents.Event] = [:]
    for event in own {
      guard let id = event.subject.flatMap({ Int64($0) }) else {
        faults.append("\(event.name) \(event.id) has no subscription")
        continue
      }
      if let other = byFailure[id], other.id != event.id || other.data != event.data {
        faults.append("\(id) has two events, \(other.name) and \(event.name)")
      }
      byFailure[id] = event
    }
    for id in participants.eligible {
      let count = state.extensions[id] ?? 0
      if count != 1 { faults.append("\(id) is eligible but was extended \(count) times") }
      if let event = byFailure[id], event.name != "extension.applied" { faults.append("\(id) has \(event.name)") }
    }
    for (id, reason) in participants.ineligible {
      if let count = state.extensions[id], count != 0 { faults.append("\(id) is \(reason) but was extended") }
      let told = byFailure[id]
      if told?.name != "extension.refused" || told?.data["reason"] != .string(reason.rawValue) {
        faults.append("\(id) is \(reason.rawValue); its event: \(told.map { "\($0.name) \($0.data)" } ?? "none")")
      }
    }
    for id in state.failures.keys where byFailure[id] == nil { faults.append("\(id) failed but has no event") }
    for id in byFailure.keys where state.failures[id] == nil { faults.append("\(id) has an event but did not fail") }
    let applied = byFailure.values.count { $0.name == "extension.applied" }
    outcome.append(
      ("extended once, by Apple or by Millrace", "\(participants.eligible.count { state.extensions[$0] == 1 })"))
    measured += [("failures that Apple sent", "\(state.failures.count)"), ("extended by a retry", "\(applied)")]
    for reason in Participants.Reason.allCases {
      outcome.append(("refused: \(reason.rawValue)", "\(participants.ineligible.values.count { $0 == reason })"))
    }
  }

  // MARK: - Refunds

  private mutating func judgeRefunds(
    _ events: [RehearsalEvents.Event], _ table: [String: JSONObject], _ truth: [String: JSONObject?]
  ) {
    faults += Self.differences(table, truth)
    let own = events.filter { $0.worker == "refunds" }
    var seen: Set<String> = []
    let first = own.filter { seen.insert($0.id).inserted }
    for (id, told) in Dictionary(grouping: first, by: { $0.subject ?? "" }) {
      let changes = told.filter { $0.name.hasPrefix("entitlement.") }
      guard let revocation = truth[id] else {
        faults.append("\(id) has events although nothing happened to it")
        continue
      }
      if !Self.isSame(changes.last?.data["revocation"], revocation) {
        faults.append("the last event of \(id) does not match its state")
      }
    }
    outcome += [
      ("transactions with notifications", "\(truth.count)"),
      ("of these, revoked in the end", "\(truth.values.count { $0 != nil })"),
    ]
    for name in ["entitlement.revoked", "entitlement.reinstated", "refund.declined", "refund.unconfirmed"] {
      measured.append((name, "\(first.count { $0.name == name })"))
    }
  }

  /// The differences between the entitlements table and the simulator's state.
  static func differences(_ table: [String: JSONObject], _ truth: [String: JSONObject?]) -> [String] {
    var differences = table.keys.filter { truth[$0] == nil }.map { "\($0) is in the table, but nothing happened to it" }
    for (id, revocation) in truth {
      guard let row = table[id] else {
        differences.append("\(id) is not in the table")
        continue
      }
      if row["revoked"] != .bool(revocation != nil) || !isSame(row["revocation"], revocation) {
        differences.append("the table has \(row["revocation"] ?? .null) for \(id), the simulator \(revocation ?? [:])")
      }
    }
    return differences
  }

  /// Whether both have the same members, in any order.
  private static func isSame(_ said: JSON?, _ truth: JSONObject?) -> Bool {
    guard case .object(let said)? = said else { return truth == nil }
    return truth.map { Set($0.members) == Set(said.members) } ?? false
  }

  // MARK: - Calls

  /// The tolerated delay of a call after its rate-limit slot, in seconds of real time.
  private static let moment = 3.0
  /// The maximum time of a commit before its transaction is aborted.
  private static let commit = Duration.seconds(10)

  private mutating func judgeCalls(
    _ environment: RehearsalEnvironment, _ state: SimulatedState, _ killed: Range<Timestamp>?, _ lanes: [Int64: Int]
  ) {
    let settings = environment.settings
    let report = environment.simulator.services.report
    let journal = environment.simulator.services.journal.filter { $0.endpoint == .extendSubscriptionRenewalDate }
    let explained = Repetitions.explained(
      journal.compactMap { Repetitions.Call($0) }, killed: killed, commit: settings.lasting(Self.commit))
    for breach in report.broken {
      // Apple remembers no refusals here, so a call after an uncommitted refusal may be repeated.
      guard breach.rule != .repeatedAfterFinalAnswer || breach.count > explained else { continue }
      faults.append("\(breach.rule.rawValue): \(breach.count) times; \(breach.examples.first ?? "")")
    }
    let calls = journal.compactMap { BudgetMeter.Call($0, pause: settings.lasting(Rehearsal.retryAfter)) }
    let fullest = BudgetMeter.fullestHour(calls.map(\.time))
    if Double(fullest) > settings.callsPerHour {
      faults.append("\(fullest) calls in an hour, and the budget is \(Int(settings.callsPerHour))")
    }
    // A delayed call and the next one may reach Apple together.
    let ahead = BudgetMeter.furthestAhead(calls.map(\.time), perHour: settings.callsPerHour)
    if ahead > settings.callsPerHour / 3_600 * settings.rate * Self.moment {
      faults.append("\(Int(ahead)) calls more than the budget allows in the same time")
    }
    let meter = BudgetMeter(
      environment, failures: state.failures, calls: calls, workers: workers, killed: killed, lanes: lanes)
    if settings.judgeBudget, meter.use < 0.9 {
      faults.append("only \(meter.percent) of the budget was used while work waited")
    }
    let (first, last) = (calls.first?.time, calls.last?.time)
    let seconds = first.flatMap { first in last.map { ($0 - first) / .seconds(1) / settings.rate } } ?? 0
    let closed = Double(meter.closed) / 1_000 / settings.rate
    let asked = report.asked.first { $0.endpoint == .extendSubscriptionRenewalDate }
    func answered(_ statuses: some Sequence<Int>) -> Int {
      statuses.reduce(0) { $0 + (asked?.byStatus[$1] ?? 0) }
    }
    measured += [
      ("sent again after a refusal that was not committed", "\(explained)"),
      ("calls to extend", "\(calls.count)"), ("accepted", "\(answered([200]))"),
      ("refused, including the key", "\(answered(400...428))"), ("told to wait", "\(answered([429]))"),
      ("failed", "\(answered(500...599))"), ("without an answer", "\(asked?.withoutAnswer ?? 0)"),
      ("first to last call", "\((seconds * 10).rounded() / 10) s"),
      ("failures ended a second", "\((seconds > 0 ? Double(state.failures.count) / seconds * 10 : 0).rounded() / 10)"),
      ("fullest hour", "\(fullest) of \(Int(settings.callsPerHour))"),
      ("maximum beyond an even pace", "\(Int(ahead.rounded(.up))) calls"),
      ("budget used while work waited", "\(meter.percent), \(meter.calls) calls"),
      ("of that, paused by a 429 or without lanes", "\((closed * 10).rounded() / 10) s"),
      (
        "transaction lookups",
        "\(report.asked.first { $0.endpoint == .getTransactionInfo }?.count ?? 0)"
      ),
    ]
  }
}

extension BudgetMeter {
  var percent: String { "\((use * 1_000).rounded() / 10) %" }

  /// The use over a run. Each process is responsible for the lanes that the range assignor gives it.
  init(
    _ environment: RehearsalEnvironment, failures: [Int64: Timestamp], calls: [Call], workers: Int,
    killed: Range<Timestamp>?,
    lanes: [Int64: Int]
  ) {
    let rate = environment.settings.callsPerHour
    self.init(
      perHour: rate, delays: environment.settings.retryDelays,
      backlog: Int((rate / 3_600 * environment.settings.rate).rounded(.up))
    )
    let excluded =
      Self.pauses(calls)
      + (killed.map { [$0.lowerBound.millisecondsSince1970..<$0.upperBound.millisecondsSince1970] } ?? [])
    for worker in 0..<workers {
      func isOwn(_ id: Int64) -> Bool { lanes[id].map { $0 * workers / environment.settings.lanes == worker } ?? false }
      add(
        available: failures.filter { isOwn($0.key) }, calls: calls.filter { isOwn($0.subscription) },
        part: 1 / Double(workers), excluded: excluded)
    }
  }
}

extension BudgetMeter.Call {
  init?(_ request: JournaledRequest, pause: Duration) {
    guard let id = request.path.split(separator: "/").last.flatMap({ Int64($0) }) else { return nil }
    let isAnswered = request.fault == nil && request.status.map { $0 == 200 || (400..<500).contains($0) } ?? false
    self.init(
      time: request.time, subscription: id, isFinal: isAnswered,
      pausedUntil: request.status == 429 ? request.time + pause : nil)
  }
}
