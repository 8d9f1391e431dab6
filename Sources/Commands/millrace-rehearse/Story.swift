// A run for somebody who watches: what came, and what became of it.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import Operations

/// What a run showed, in numbers.
struct Story: Sendable {
  /// Notifications by type and subtype.
  private var came: [String: Int] = [:]
  private var twins = 0
  /// Events by name, repeated ones once.
  private var events: [String: Int] = [:]
  /// `extension.refused` by reason.
  private var refused: [String: Int] = [:]
  private var revoked = 0
  private var transactions = 0
  private var calls: APIReport.Asked?
  /// Consumption requests that were answered; nil where no worker for them runs.
  private var answered: Int?

  init(_ stage: Stage, _ observer: Observer, twins: Int) {
    self.twins = twins
    came = stage.simulator.world.withState { state in
      state.realms[0].log.records.reduce(into: [:]) { $0["\($1.facts.kind)", default: 0] += 1 }
    }
    var seen: Set<String> = []
    for event in observer.events where seen.insert(event.id).inserted {
      events[event.name, default: 0] += 1
      if event.name == "extension.refused", let reason = event.data["reason"]?.text { refused[reason, default: 0] += 1 }
    }
    transactions = observer.table.count
    revoked = observer.table.values.count { $0["revoked"] == .bool(true) }
    calls = stage.simulator.services.report.asked.first { $0.endpoint == .extendSubscriptionRenewalDate }
    answered = events["consumption.sent"]
  }

  /// The story as a table.
  func lines(usesColor: Bool) -> [String] {
    var rows: [[TextCell]] = []
    func row(_ what: String, _ count: Int, _ then: String, _ outcome: Int?, _ style: TextStyle = .plain) {
      rows.append([
        TextCell(what), TextCell(what.isEmpty ? "" : "\(count)"), TextCell(then, style),
        TextCell(outcome.map { "\($0)" } ?? ""),
      ])
    }
    func told(_ name: String) -> Int { events[name] ?? 0 }
    row("RENEWAL_EXTENDED", came["RENEWAL_EXTENDED"] ?? 0, "extended, once each", nil)
    row(
      "RENEWAL_EXTENSION/FAILURE", came["RENEWAL_EXTENSION/FAILURE"] ?? 0, "tried again and extended",
      told("extension.applied"), .green)
    for (reason, count) in refused.sorted(by: { $0.key < $1.key }) {
      row("", 0, "refused by Apple: \(reason)", count, .yellow)
    }
    if told("extension.unclear") > 0 { row("", 0, "nobody can tell", told("extension.unclear"), .red) }
    row("REFUND", came["REFUND"] ?? 0, "entitlement revoked", told("entitlement.revoked"), .yellow)
    row("REVOKE", came["REVOKE"] ?? 0, "the same, of what a family shared", nil)
    row(
      "REFUND_REVERSED", came["REFUND_REVERSED"] ?? 0, "entitlement given back", told("entitlement.reinstated"), .green)
    row("REFUND_DECLINED", came["REFUND_DECLINED"] ?? 0, "request declined", told("refund.declined"))
    row("version 1, unsigned", twins, "confirmed with Apple, told once", nil)
    if let answered {
      row("CONSUMPTION_REQUEST", came["CONSUMPTION_REQUEST"] ?? 0, "answered", answered, .green)
    }
    let columns = [
      TextColumn("what came"), TextColumn("", alignment: .right), TextColumn("what became of it"),
      TextColumn("", alignment: .right),
    ]
    return [""] + TextTable.lines(columns, rows: rows, lineWidth: nil, usesColor: usesColor).map { "    " + $0 } + [
      "", "    \(tries)",
      "    \(transactions) transactions in the table appstore.entitlements, \(revoked) of them revoked",
    ]
  }

  private var tries: String {
    guard let calls else { return "Apple was not asked." }
    func count(_ statuses: some Sequence<Int>) -> Int { statuses.reduce(0) { $0 + (calls.byStatus[$1] ?? 0) } }
    return """
      \(calls.count) calls to extend: \(count([200])) taken, \(count(400...428)) refused, \(count([429])) told to wait, \
      \(count(500...599)) failed, \(calls.withoutAnswer) without an answer
      """
  }
}
