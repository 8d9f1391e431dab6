// The section of the first page with the charts of the last 24 hours.

extension OverviewView {
  var history: HTML {
    let cards = state.history.map { row -> HTML in
      let lag = HistoryChart(
        id: "history-\(row.worker)-lag", title: "Records behind, \(row.worker), last 24 hours", values: row.lag)
      let dead = HistoryChart(
        id: "history-\(row.worker)-dead", title: "Open dead letters, \(row.worker), last 24 hours", values: row.dead)
      return """
        <li class="card"><h3>\(row.worker)</h3>
        <p class="figure">Records behind: \(lag.summary)</p>\(lag.html)
        <p class="figure">Open dead letters: \(dead.summary)</p>\(dead.html)</li>

        """
    }
    let note: HTML =
      state.historyProblem.map { "<span class=\"state warn\">no new samples: \($0)</span>" }
      ?? "a sample every five minutes; a gap means that no console saw the figures"
    return Layout.section(
      "history", "Last 24 hours", note,
      cards.isEmpty
        ? Layout.nothing("The configuration has no workers. List them under <code>workers</code>.")
        : "<ul class=\"cards\">\(cards)</ul>")
  }
}
