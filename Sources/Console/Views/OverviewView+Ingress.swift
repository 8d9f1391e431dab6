// The section of the first page about the requests that the ingress refused.

internal import AppStore
internal import MillraceRecords

extension OverviewView {
  private static let shownRefusals = 100

  var refusals: HTML {
    let all = state.ingress.flatMap { process in process.refusals.map { (process: process, refusals: $0) } }
      .sorted { ($1.refusals.lastAt, $0.refusals.reason) < ($0.refusals.lastAt, $1.refusals.reason) }
    let rows = all.prefix(Self.shownRefusals).map { process, refusals -> HTML in
      """
      <tr><th scope="row" class="wide"><span class="code">\(Words.breakable(refusals.reason))</span></th>
      <td class="num">\(Words.count(refusals.count))</td><td>\(Words.relative(refusals.lastAt, now: state.now))</td>
      <td class="extra code">\(process.instance)</td><td class="extra">\(process.startedAt.map { Words.relative($0, now: state.now) } ?? "–")</td></tr>
      """
    }
    let processes = state.ingress.count
    return Layout.section(
      "refusals", "Refused by the ingress",
      "\(Words.count(processes)) \(processes == 1 ? "process" : "processes") · <a href=\"/quarantine\">quarantine</a>",
      rows.isEmpty
        ? Layout.nothing(
          processes == 0 ? "No ingress has reported." : "No request has been refused since the processes started.")
        : Layout.table(
          "Refused requests by reason and process, the latest first",
          [
            .init("Reason"), .init("Requests", isNumber: true), .init("Last"), .init("Process", isExtra: true),
            .init("Since its start", isExtra: true),
          ], Array(rows)))
  }
}
