// The section of the first page about webhooks: deliveries by endpoint.

internal import AppStore

extension OverviewView {
  var webhooks: HTML {
    let rows = state.webhooks.map { row -> HTML in
      let link = Link.to(["dead-letters"], [("worker", row.worker)])
      let status: HTML =
        row.isPaused ? "<span class=\"state warn\">paused</span>" : "<span class=\"state good\">running</span>"
      let dead: HTML =
        row.dead == 0 ? "·" : "<a href=\"\(link)\">\(Words.count(row.dead))</a>"
      return """
        <tr><th scope="row"><a href="\(Link.to(["webhooks", row.name]))">\(row.name)</a></th><td>\(status)</td>
        <td class="num extra">\(Words.count(Int(row.processed)))</td><td class="num">\(Words.count(row.behind))</td>
        <td class="num">\(Words.count(row.waiting))</td><td class="num extra">\(Words.count(row.retried))</td>
        <td class="num">\(dead)</td></tr>
        """
    }
    return Layout.section(
      "webhooks", "Webhooks", "deliveries by endpoint",
      Layout.table(
        "Webhooks",
        [
          .init("Webhook"), .init("State"), .init("Processed", isNumber: true, isExtra: true),
          .init("Behind", isNumber: true), .init("Waiting", isNumber: true),
          .init("Retried in an hour", isNumber: true, isExtra: true), .init("Dead", isNumber: true),
        ], rows))
  }
}
