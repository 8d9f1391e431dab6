// What one run came to, held against the simulator's world.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import Clocks

struct RunResult: Sendable {
  var workers: Int
  var faults: [String] = []
  var replay: Again.Result?
  let story: Story
  /// Rows that have to be the same however many workers there are.
  private(set) var outcome: [(title: String, value: String)] = []
  /// Rows that may differ.
  private(set) var measured: [(title: String, value: String)] = []
  private(set) var headline = ""

  init(
    workers: Int, _ stage: Stage, _ observer: Observer, cast: Cast, since began: Timestamp,
    killed: Range<Timestamp>?, twins: Int, lanes: [Int64: Int]
  ) {
    self.workers = workers
    story = Story(stage, observer, twins: twins)
    let world = World(stage, since: began)
    let events = observer.events
    faults += observer.unreadable
    judgeExtensions(events, cast, world)
    judgeRefunds(events, observer.table, RefundWave.truth(stage.simulator))
    judgeCalls(stage, world, killed, lanes)
    outcome.append(("version 1 twins", "\(twins)"))
    measured.append(("deliveries that failed", "\(stage.taken.failures)"))
    headline = """
      \(world.failures.count) failures ended, \(observer.table.count) transactions in the table, \
      \(faults.isEmpty ? "as promised" : "NOT as promised")
      """
  }

  /// What the simulator knows.
  private struct World {
    /// Failures that Apple told: when the ingress took the first, and which subscription.
    var failures: [Int64: Timestamp] = [:]
    /// How often a subscription was extended since the beginning.
    var extensions: [Int64: Int] = [:]

    init(_ stage: Stage, since began: Timestamp) {
      (failures, extensions) = stage.simulator.world.withState { state in
        var failures: [Int64: Timestamp] = [:]
        for record in state.realms[0].log.records {
          guard record.facts.kind.type == .renewalExtension,
            case .purchase(let transaction, _, _) = record.facts.content
          else { continue }
          failures[transaction.originalId] = stage.taken[record.facts.uuid.text] ?? record.facts.signedDate
        }
        return (failures, state.subscriptions.mapValues { $0.extensions.count { $0 >= began } })
      }
    }
  }

  // MARK: - Extensions

  private mutating func judgeExtensions(_ events: [Observer.Event], _ cast: Cast, _ world: World) {
    let own = events.filter { $0.name.hasPrefix("extension.") }
    // A process that dies may have published what nobody knows of: at least once, and always under one name.
    var byFailure: [Int64: Observer.Event] = [:]
    for event in own {
      guard let id = event.subject.flatMap({ Int64($0) }) else {
        faults.append("\(event.name) \(event.id) names no subscription")
        continue
      }
      if let other = byFailure[id], other.id != event.id || other.data != event.data {
        faults.append("\(id) has two events, \(other.name) and \(event.name)")
      }
      byFailure[id] = event
    }
    for id in cast.eligible {
      let count = world.extensions[id] ?? 0
      if count != 1 { faults.append("\(id) is eligible and was extended \(count) times") }
      if let event = byFailure[id], event.name != "extension.applied" { faults.append("\(id) has \(event.name)") }
    }
    for (id, reason) in cast.ineligible {
      if let count = world.extensions[id], count != 0 { faults.append("\(id) is \(reason) and was extended") }
      let told = byFailure[id]
      if told?.name != "extension.refused" || told?.data["reason"] != .string(reason.rawValue) {
        faults.append("\(id) is \(reason.rawValue); its event: \(told.map { "\($0.name) \($0.data)" } ?? "none")")
      }
    }
    for id in world.failures.keys where byFailure[id] == nil { faults.append("\(id) failed and has no event") }
    for id in byFailure.keys where world.failures[id] == nil { faults.append("\(id) has an event and did not fail") }
    let applied = byFailure.values.count { $0.name == "extension.applied" }
    outcome.append(("extended once, by Apple or by us", "\(cast.eligible.count { world.extensions[$0] == 1 })"))
    measured += [("failures that Apple told", "\(world.failures.count)"), ("extended by a retry", "\(applied)")]
    for reason in Cast.Reason.allCases {
      outcome.append(("refused: \(reason.rawValue)", "\(cast.ineligible.values.count { $0 == reason })"))
    }
  }

  // MARK: - Refunds

  private mutating func judgeRefunds(
    _ events: [Observer.Event], _ table: [String: JSONObject], _ truth: [String: JSONObject?]
  ) {
    faults += Self.differences(table, truth)
    let own = events.filter { $0.worker == "refunds" }
    var seen: Set<String> = []
    let first = own.filter { seen.insert($0.id).inserted }
    for (id, told) in Dictionary(grouping: first, by: { $0.subject ?? "" }) {
      let changes = told.filter { $0.name.hasPrefix("entitlement.") }
      guard let revocation = truth[id] else {
        faults.append("\(id) has events and nothing happened to it")
        continue
      }
      if !Self.isSame(changes.last?.data["revocation"], revocation) {
        faults.append("the last event of \(id) is not what is so")
      }
    }
    outcome += [
      ("transactions that something was told of", "\(truth.count)"),
      ("of them revoked in the end", "\(truth.values.count { $0 != nil })"),
    ]
    for name in ["entitlement.revoked", "entitlement.reinstated", "refund.declined", "refund.unconfirmed"] {
      measured.append((name, "\(first.count { $0.name == name })"))
    }
  }

  /// Where the table does not say what the world says.
  static func differences(_ table: [String: JSONObject], _ truth: [String: JSONObject?]) -> [String] {
    var differences = table.keys.filter { truth[$0] == nil }.map { "\($0) is in the table and nothing happened to it" }
    for (id, revocation) in truth {
      guard let row = table[id] else {
        differences.append("\(id) is not in the table")
        continue
      }
      if row["revoked"] != .bool(revocation != nil) || !isSame(row["revocation"], revocation) {
        differences.append("the table says \(row["revocation"] ?? .null) of \(id), the world \(revocation ?? [:])")
      }
    }
    return differences
  }

  /// Whether they have the same members, in any order.
  private static func isSame(_ said: JSON?, _ truth: JSONObject?) -> Bool {
    guard case .object(let said)? = said else { return truth == nil }
    return truth.map { Set($0.members) == Set(said.members) } ?? false
  }

  // MARK: - Calls

  /// Seconds of real time by which a call may come later than its turn.
  private static let moment = 3.0

  private mutating func judgeCalls(
    _ stage: Stage, _ world: World, _ killed: Range<Timestamp>?, _ lanes: [Int64: Int]
  ) {
    let report = stage.simulator.services.report
    for breach in report.broken {
      faults.append("\(breach.rule.rawValue): \(breach.count) times; \(breach.examples.first ?? "")")
    }
    let journal = stage.simulator.services.journal.filter { $0.endpoint == .extendSubscriptionRenewalDate }
    let calls = journal.compactMap { BudgetMeter.Call($0, pause: stage.settings.lasting(Play.retryAfter)) }
    let fullest = BudgetMeter.fullestHour(calls.map(\.time))
    if Double(fullest) > stage.settings.callsPerHour {
      faults.append("\(fullest) calls in an hour, and the budget is \(Int(stage.settings.callsPerHour))")
    }
    // A turn may leave late and the next one in time, so that Apple sees as much as a moment's calls at once.
    let ahead = BudgetMeter.furthestAhead(calls.map(\.time), perHour: stage.settings.callsPerHour)
    if ahead > stage.settings.callsPerHour / 3_600 * stage.settings.rate * Self.moment {
      faults.append("\(Int(ahead)) calls more than the budget allows in the same time")
    }
    let meter = BudgetMeter(
      stage, failures: world.failures, calls: calls, workers: workers, killed: killed, lanes: lanes)
    if stage.settings.isBudgetJudged, meter.use < 0.9 {
      faults.append("\(meter.percent) of the budget was used while work waited")
    }
    let (first, last) = (calls.first?.time, calls.last?.time)
    let seconds = first.flatMap { first in last.map { ($0 - first) / .seconds(1) / stage.settings.rate } } ?? 0
    let closed = Double(meter.closed) / 1_000 / stage.settings.rate
    let asked = report.asked.first { $0.endpoint == .extendSubscriptionRenewalDate }
    func answered(_ statuses: some Sequence<Int>) -> Int {
      statuses.reduce(0) { $0 + (asked?.byStatus[$1] ?? 0) }
    }
    measured += [
      ("calls to extend", "\(calls.count)"), ("taken", "\(answered([200]))"),
      ("refused, or a key that was", "\(answered(400...428))"), ("told to wait", "\(answered([429]))"),
      ("failed", "\(answered(500...599))"), ("without an answer", "\(asked?.withoutAnswer ?? 0)"),
      ("first to last call", "\((seconds * 10).rounded() / 10) s"),
      ("failures ended a second", "\((seconds > 0 ? Double(world.failures.count) / seconds * 10 : 0).rounded() / 10)"),
      ("fullest hour", "\(fullest) of \(Int(stage.settings.callsPerHour))"),
      ("most beyond an even pace", "\(Int(ahead.rounded(.up))) calls"),
      ("of the budget while work waited", "\(meter.percent), \(meter.calls) calls"),
      ("paused by a 429 or without lanes meanwhile", "\((closed * 10).rounded() / 10) s"),
      (
        "questions about transactions",
        "\(report.asked.first { $0.endpoint == .getTransactionInfo }?.count ?? 0)"
      ),
    ]
  }
}

extension BudgetMeter {
  var percent: String { "\((use * 1_000).rounded() / 10) %" }

  /// The use over a run: each process answers for the lanes that the range assignor gives it.
  init(
    _ stage: Stage, failures: [Int64: Timestamp], calls: [Call], workers: Int, killed: Range<Timestamp>?,
    lanes: [Int64: Int]
  ) {
    let rate = stage.settings.callsPerHour
    self.init(
      perHour: rate, delays: stage.settings.retryDelays, backlog: Int((rate / 3_600 * stage.settings.rate).rounded(.up))
    )
    let excluded =
      Self.pauses(calls)
      + (killed.map { [$0.lowerBound.millisecondsSince1970..<$0.upperBound.millisecondsSince1970] } ?? [])
    for worker in 0..<workers {
      func isOwn(_ id: Int64) -> Bool { lanes[id].map { $0 * workers / stage.settings.lanes == worker } ?? false }
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
