// The first page: an overview in tiles, then the sections.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceRecords
internal import MillraceTime

struct OverviewView: Sendable {
  let state: Overview
  let context: PageContext

  var page: HTML {
    Layout.page("Overview", context, isLive: true, "<h1 class=\"hidden\">Overview</h1>\(sections.map(\.html))")
  }

  /// The sections that are pushed when they change. Ids are unique on the page.
  var sections: [(id: String, html: HTML)] {
    [("glance", glance), ("dead-letters", deadLetters), ("deadlines", deadlines), ("lag", lag), ("history", history)]
      + [("retries", retries)]
      + (state.webhooks.isEmpty ? [] : [("webhooks", webhooks)]) + [
        ("limits", limits), ("flow", flow), ("refusals", refusals), ("campaigns", campaigns), ("runs", runs),
        ("audit", audit),
      ]
  }
}

// At a glance.
extension OverviewView {
  private struct Tile {
    var title: String
    var value: String
    var note: HTML
    var tone: Tone = .plain
    var link: String
  }

  private var glance: HTML {
    let tiles = [incoming, behind, waiting, dead, due].map { tile -> HTML in
      """
      <li class="tile \(tile.tone.name)"><a href="\(tile.link)"><span class="title">\(tile.title)</span>
      <strong>\(tile.value)</strong><span class="note">\(tile.note)</span></a></li>
      """
    }
    return "<section id=\"glance\" aria-label=\"At a glance\">\(trouble)<ul class=\"tiles\">\(tiles)</ul></section>\n"
  }

  private static let shownConditions = 20

  private var trouble: HTML {
    // The style of the page turns the figures grey with this banner.
    if state.isStale, let at = state.surveyedAt {
      return """
        <p class="banner bad stale" role="status"><strong>Kafka has not answered for \(Words.span(state.now - at)).</strong> The figures are from \(Words.exact(at)).</p>
        """
    }
    let problems = state.problems.sorted { $0.key < $1.key }.map { part, words -> HTML in
      "<p class=\"banner bad\" role=\"status\"><strong>\(part):</strong> \(words)</p>"
    }
    guard problems.isEmpty else { return "\(problems)" }
    if state.surveyedAt == nil { return "<p class=\"banner\" role=\"status\">Kafka has not answered yet.</p>" }
    guard !state.isCaughtUp else {
      let conditions = state.conditions.prefix(Self.shownConditions).map { condition -> HTML in
        """
        <p class="banner bad" role="status"><strong>\(condition.kind.rawValue):</strong> \(condition.subject): \(condition.what) → \(condition.remedy)</p>
        """
      }
      return "\(conditions)"
    }
    return
      "<p class=\"banner\" role=\"status\">Still reading: the counts of dead letters, campaigns and actions are incomplete.</p>"
  }

  private func total(_ outcome: FlowTable.Outcome, ofLast minutes: Int) -> Int {
    state.flow.filter { $0.key.outcome == outcome }.reduce(0) { $0 + $1.total(ofLast: minutes) }
  }

  private var incoming: Tile {
    let refused = total(.quarantined, ofLast: 5)
    return Tile(
      title: "Notifications per minute", value: Words.perMinute(total(.received, ofLast: 5), minutes: 5),
      note: refused > 0 ? "\(Words.count(refused)) quarantined in 5 min" : "average of 5 minutes",
      tone: refused > 0 ? .warn : .plain, link: "#flow")
  }

  private var behind: Tile {
    let furthest = state.workers.compactMap { worker in worker.oldest.map { (worker.worker, $0) } }.min { $0.1 < $1.1 }
    guard let (worker, oldest) = furthest else {
      if let idle = state.workers.compactMap({ idle($0.worker) }).first {
        return Tile(
          title: "Furthest behind", value: "–", note: "\(idle.subject): \(idle.words)", tone: .bad, link: "#lag")
      }
      return Tile(title: "Furthest behind", value: "0 s", note: "every worker is up to date", tone: .good, link: "#lag")
    }
    let lag = state.now - oldest
    return Tile(
      title: "Furthest behind", value: Words.span(lag), note: "\(worker)", tone: Tone(lag: lag), link: "#lag")
  }

  /// The reason why a worker without lag handles nothing.
  private func idle(_ worker: String) -> (subject: String, words: String)? {
    let condition = state.conditions.first {
      $0.subject == worker && [.workerNotRunning, .circuitOpen].contains($0.kind)
    }
    return condition.map { (worker, $0.kind == .circuitOpen ? "circuit open" : "not running") }
  }

  private var waiting: Tile {
    let count = state.retries.reduce(0) { $0 + $1.waiting }
    let overdue = state.retries.reduce(0) { $0 + ($1.due[.overdue] ?? 0) }
    return Tile(
      title: "Retries waiting", value: Words.count(count),
      note: overdue > 0 ? "\(Words.count(overdue)) overdue" : "none overdue", tone: overdue > 0 ? .warn : .plain,
      link: "#retries")
  }

  private var dead: Tile {
    let open = state.deadLetters.open
    return Tile(
      title: "Open dead letters", value: Words.count(open),
      note: open == 0 ? "none to decide about" : "needs attention", tone: open == 0 ? .good : .bad,
      link: "#dead-letters")
  }

  private var due: Tile {
    guard let deadlines = state.deadlines else {
      return Tile(title: "Next deadline", value: "–", note: "no consumption worker", link: "#deadlines")
    }
    guard let first = deadlines.next.first else {
      return Tile(title: "Next deadline", value: "–", note: "no open requests", tone: .good, link: "#deadlines")
    }
    let left = first.due - state.wallTime
    return Tile(
      title: "Next deadline", value: left < .zero ? "missed" : Words.span(left),
      note: "\(Words.count(deadlines.open)) open requests", tone: Tone(deadline: left), link: "#deadlines")
  }
}

/// The severity of a value. Pages show it in colour and always in words, too.
enum Tone: Sendable {
  case plain
  case good
  case warn
  case bad

  var name: String {
    switch self {
    case .plain: "plain"
    case .good: "good"
    case .warn: "warn"
    case .bad: "bad"
    }
  }

  init(lag: Duration) { self = lag < .seconds(60) ? .good : lag < .seconds(600) ? .warn : .bad }
  init(deadline left: Duration) {
    self = left < .seconds(3_600) ? .bad : left < .seconds(3 * 3_600) ? .warn : .plain
  }
}

// Throughput.
extension OverviewView {
  /// The number of rows that are visible at once. Further rows are collapsed.
  static let flowRows = 6

  private var flow: HTML {
    // Only rows of received notifications are collapsed.
    let (first, rest) = state.flow.reduce(into: ([FlowTable.Row](), [FlowTable.Row]())) { parts, row in
      if row.key.outcome != .received || parts.0.count < Self.flowRows {
        parts.0.append(row)
      } else {
        parts.1.append(row)
      }
    }
    let since = state.countedSince.map { since -> HTML in
      state.now - since < .seconds(3_600) ? "counted since \(Words.exact(since))" : "by the minute of writing"
    }
    guard !first.isEmpty else {
      return Layout.section("flow", "Throughput", since ?? "", Layout.nothing("No records in the last hour."))
    }
    let more: HTML? =
      rest.isEmpty
      ? nil
      : """
      <details id="flow-more" class="more"><summary>\(Words.count(rest.count)) more types</summary>\(flowTable("Other notifications", rest))</details>
      """
    return Layout.section(
      "flow", "Throughput", since ?? "", "\(flowTable("Records by outcome and type", first))\(more)")
  }

  private func flowTable(_ caption: String, _ rows: [FlowTable.Row]) -> HTML {
    let rows = rows.map { row -> HTML in
      """
      <tr><th scope="row" class="wide"><span class="dot \(row.key.outcome.rawValue)"></span><span class="code">\(Words.breakable(row.key.label))</span>
      <span class="sub">\(row.key.outcome.words) · \(row.key.place)</span></th>
      <td class="num">\(Words.perMinute(row.total(ofLast: 5), minutes: 5))</td>
      <td class="num">\(Words.count(row.total(ofLast: FlowTable.span)))</td><td class="extra">\(Sparkline.svg(row.minutes))</td></tr>
      """
    }
    return Layout.table(
      caption,
      [
        .init("Record"), .init("Per minute", isNumber: true), .init("Last hour", isNumber: true),
        .init("Trend", isExtra: true),
      ], rows)
  }
}

extension FlowTable.Outcome {
  var words: String {
    switch self {
    case .received: "received"
    case .quarantined: "quarantined"
    case .event: "event"
    case .delayed: "delayed"
    case .replayed: "replayed"
    case .dead: "dead letter"
    }
  }
}

/// A line chart of 60 minutes.
enum Sparkline {
  static func svg(_ minutes: [Int]) -> HTML {
    let top = max(1, minutes.max() ?? 1)
    var path = ""
    for (index, count) in minutes.enumerated() {
      let height = 18 - 16 * count / top
      path += "\(index == 0 ? "M" : "L")\(index * 2) \(height)"
    }
    return """
      <svg class="spark" viewBox="0 0 118 20" width="118" height="20" aria-hidden="true"><path d="\(path)"/></svg>
      """
  }
}

// Lag and retries.
extension OverviewView {
  private var lag: HTML {
    let workers = state.workers.map { worker -> HTML in
      let summary: HTML =
        if !worker.hasTopics {
          "<span class=\"state warn\">no topics</span>"
        } else if !worker.hasRun {
          "<span class=\"state\">has not run</span>"
        } else if let oldest = worker.oldest {
          "<span class=\"state \(Tone(lag: state.now - oldest).name)\">\(Words.span(state.now - oldest)) behind</span>"
        } else if worker.records > 0 {
          "<span class=\"state warn\">behind, age unknown</span>"
        } else if let idle = idle(worker.worker) {
          "<span class=\"state bad\">\(idle.words)</span>"
        } else {
          "<span class=\"state good\">up to date</span>"
        }
      return """
        <details id="lag-\(worker.worker)"><summary><span class="name">\(worker.worker)</span>\(summary)
        <span class="num">\(Words.count(worker.records)) \(worker.records == 1 ? "record" : "records")</span></summary>
        \(processes(of: worker.worker))\(lanes(worker))</details>

        """
    }
    return Layout.section(
      "lag", "Workers", state.surveyedAt.map { "as of \(Words.exact($0))" } ?? "",
      state.workers.isEmpty
        ? Layout.nothing("The configuration has no workers. List them under <code>workers</code>.")
        : "<div class=\"stack\">\(workers)</div>")
  }

  private func processes(of worker: String) -> HTML {
    guard let processes = state.processes[worker], !processes.isEmpty else { return "" }
    let rows = processes.map { process -> HTML in
      """
      <tr><th scope="row" class="wide">\(process.instance ?? process.host ?? "unnamed")</th>
      <td>\(process.lanes.map { "\($0)" }.joined(separator: ", "))</td><td>\(process.version ?? "–")</td>
      <td>\(process.problem ?? "running")</td></tr>
      """
    }
    return Layout.table(
      "Processes of \(worker)", [.init("Process"), .init("Lanes"), .init("Version"), .init("State")], rows)
  }

  private var limits: HTML {
    let rows = state.budgets.map { worker, budget -> HTML in
      let pause = state.pauses.first {
        $0.key.endpoint.rawValue == budget.endpoint && $0.key.bundleId == budget.bundleId
          && $0.key.environment.rawValue == budget.environment
      }
      return """
        <tr><th scope="row" class="wide"><span class="code">\(budget.endpoint)</span><span class="sub">\(budget.bundleId) · \(budget.environment)</span></th>
        <td>\(worker)</td><td class="num">\(Words.count(Int((budget.perSecond * 60).rounded())))</td>
        <td class="num">\(Words.count(budget.waiting))</td><td>\(pause.map { Words.exact($0.until) } ?? "–")</td></tr>
        """
    }
    return Layout.section(
      "limits", "Apple's limits", "calls of workers",
      rows.isEmpty
        ? Layout.nothing("No worker has called Apple.")
        : Layout.table(
          "Calls of workers within Apple's limits",
          [
            .init("Endpoint"), .init("Worker"), .init("A minute", isNumber: true), .init("Waiting", isNumber: true),
            .init("Paused until"),
          ], rows))
  }

  private func lanes(_ worker: WorkerLag) -> HTML {
    guard !worker.lanes.isEmpty else {
      return Layout.nothing(
        worker.hasTopics
          ? "Its consumer group has not committed any offset yet."
          : "Create them with <code>millrace topics apply</code>.")
    }
    let rows = worker.lanes.map { lane -> HTML in
      let age: HTML = lane.oldest.map { "\(Words.span(state.now - $0))" } ?? "–"
      return """
        <tr><th scope="row" class="num">\(lane.lane)</th><td class="num">\(Words.count(lane.records))</td>
        <td class="num">\(age)</td><td>\(lane.worst ?? "")</td></tr>
        """
    }
    return Layout.table(
      "Lanes of \(worker.worker)",
      [
        .init("Lane", isNumber: true), .init("Records behind", isNumber: true), .init("Time behind", isNumber: true),
        .init("Oldest record in"),
      ], rows)
  }

  private var retries: HTML {
    let retries = state.retries.filter { $0.waiting > 0 }
    let rows = retries.map { row -> HTML in
      let due = RetryTable.Due.allCases.map { due -> HTML in
        let count = row.due[due] ?? 0
        return
          "<td class=\"num\(due == .overdue && count > 0 ? " warn" : "")\">\(count == 0 ? "·" : Words.count(count))</td>"
      }
      return """
        <tr><th scope="row">\(row.worker)</th><td>\(row.delay)</td><td class="num">\(Words.count(row.waiting))</td>\(due)
        <td>\(row.next.map { Words.relative($0, now: state.wallTime) } ?? "")</td></tr>
        """
    }
    return Layout.section(
      "retries", "Retries waiting", "by delay and due time",
      rows.isEmpty
        ? Layout.nothing("No retries are waiting.")
        : Layout.table(
          "Retries by delay and due time",
          [.init("Worker"), .init("Delay"), .init("Waiting", isNumber: true)]
            + RetryTable.Due.allCases.map { .init($0.rawValue, isNumber: true) } + [.init("Next")], rows))
  }
}
