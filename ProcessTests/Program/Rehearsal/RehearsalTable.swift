// Shows the notifications of a run and their results.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import MillraceRecords
import Operations
import ScenarioRig

/// The counts of a run.
struct RehearsalTable: Sendable {
  /// Notifications by type and subtype.
  private var came: [String: Int] = [:]
  private var twins = 0
  /// Events by name, without duplicates.
  private var events: [String: Int] = [:]
  /// `extension.refused` by reason.
  private var refused: [String: Int] = [:]
  private var revoked = 0
  private var transactions = 0
  private var calls: APIReport.Requests?
  /// The number of answered consumption requests; nil if no worker for them is running.
  private var answered: Int?

  init(_ environment: RehearsalEnvironment, _ observer: Rehearsal.Observer, twins: Int) {
    self.twins = twins
    came = environment.simulator.world.withState { state in
      state.realms[0].log.records.reduce(into: [:]) { $0["\($1.facts.kind)", default: 0] += 1 }
    }
    var seen: Set<String> = []
    for event in observer.events where seen.insert(event.id).inserted {
      events[event.name, default: 0] += 1
      if event.name == "extension.refused", let reason = event.data.text("reason") { refused[reason, default: 0] += 1 }
    }
    transactions = observer.table.count
    revoked = observer.table.values.count { $0["revoked"] == .bool(true) }
    calls = environment.simulator.services.report.asked.first { $0.endpoint == .extendSubscriptionRenewalDate }
    answered = events["consumption.sent"]
  }

  /// The counts as a table.
  func lines(usesColor: Bool) -> [String] {
    var rows: [[TextCell]] = []
    func row(_ what: String, _ count: Int, _ then: String, _ outcome: Int?, _ style: TextStyle = .plain) {
      rows.append([
        TextCell(what), TextCell(what.isEmpty ? "" : "\(count)"), TextCell(then, style),
        TextCell(outcome.map { "\($0)" } ?? ""),
      ])
    }
    func published(_ name: String) -> Int { events[name] ?? 0 }
    row("RENEWAL_EXTENDED", came["RENEWAL_EXTENDED"] ?? 0, "extended, once each", nil)
    row(
      "RENEWAL_EXTENSION/FAILURE", came["RENEWAL_EXTENSION/FAILURE"] ?? 0, "retried and extended",
      published("extension.applied"), .green)
    for (reason, count) in refused.sorted(by: { $0.key < $1.key }) {
      row("", 0, "refused by Apple: \(reason)", count, .yellow)
    }
    if published("extension.unclear") > 0 { row("", 0, "result unknown", published("extension.unclear"), .red) }
    row("REFUND", came["REFUND"] ?? 0, "entitlement revoked", published("entitlement.revoked"), .yellow)
    row("REVOKE", came["REVOKE"] ?? 0, "the same, for family sharing", nil)
    row(
      "REFUND_REVERSED", came["REFUND_REVERSED"] ?? 0, "entitlement reinstated", published("entitlement.reinstated"),
      .green)
    row("REFUND_DECLINED", came["REFUND_DECLINED"] ?? 0, "request declined", published("refund.declined"))
    row("version 1, unsigned", twins, "confirmed with Apple, one event each", nil)
    if let answered {
      row("CONSUMPTION_REQUEST", came["CONSUMPTION_REQUEST"] ?? 0, "answered", answered, .green)
    }
    let columns = [
      TextColumn("notification"), TextColumn("", alignment: .right), TextColumn("result"),
      TextColumn("", alignment: .right),
    ]
    return [""] + TextTable.lines(columns, rows: rows, lineWidth: nil, usesColor: usesColor).map { "    " + $0 } + [
      "", "    \(tries)",
      "    \(transactions) transactions in appstore.entitlements, \(revoked) of them revoked",
    ]
  }

  private var tries: String {
    guard let calls else { return "No calls to Apple." }
    func count(_ statuses: some Sequence<Int>) -> Int { statuses.reduce(0) { $0 + (calls.byStatus[$1] ?? 0) } }
    return """
      \(calls.count) extension calls: \(count([200])) accepted, \(count(400...428)) refused, \(count([429])) told to \
      wait, \(count(500...599)) failed, \(calls.withoutAnswer) without an answer
      """
  }
}
