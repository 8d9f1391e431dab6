// The sections of the first page about operators' work: dead letters, campaigns, deadlines, runs and the audit trail.

internal import AppStore
internal import MillraceRecords
internal import Operations
internal import RenewalExtensions

extension OverviewView {
  var deadLetters: HTML {
    let letters = state.deadLetters
    let rows = letters.groups.prefix(20).map { group -> HTML in
      let link = Link.to(
        ["dead-letters"], [("worker", group.key.worker), ("reason", group.key.reason), ("app", group.key.app)])
      return """
        <tr><th scope="row"><a class="code" href="\(link)">\(group.key.reason)</a><span class="sub">\(group.key.worker)</span></th>
        <td class="extra">\(group.key.app)</td><td class="num">\(Words.count(group.open))</td>
        <td>\(Words.relative(group.newest, now: state.wallTime))</td>
        <td class="extra">\(Words.relative(group.oldest, now: state.wallTime))</td></tr>
        """
    }
    let older: HTML? =
      letters.dropped > 0 ? " · \(Words.count(letters.dropped)) older ones are not kept in memory" : nil
    return Layout.section(
      "dead-letters", "Dead letters",
      "\(Words.count(letters.open)) open of \(Words.count(letters.kept))\(older) · <a href=\"/dead-letters?state=all\">search all</a>",
      rows.isEmpty
        ? Layout.nothing("No open dead letters.")
        : Layout.table(
          "Open dead letters by cause",
          [
            .init("Reason"), .init("App", isExtra: true), .init("Open", isNumber: true), .init("Newest"),
            .init("Oldest", isExtra: true),
          ], Array(rows)))
  }

  var campaigns: HTML {
    guard let campaigns = state.campaigns else {
      return Layout.section("campaigns", "Campaigns", "", Layout.nothing("\(missing(CampaignRecord.topic))"))
    }
    let items = campaigns.map { campaign -> HTML in
      let report = state.reports[campaign.id]
      return """
        <li class="card"><h3>\(campaign.productId) <span class="state \(tone(campaign).name)">\(CampaignWords.state(campaign))</span></h3>
        <p>\(CampaignWords.terms(campaign)) · \(campaign.bundleId), \(campaign.environment.rawValue)</p>
        <p>started \(Words.relative(campaign.requestedAt, now: state.wallTime)) by \(campaign.by)\(campaign.cancellation.map { ", cancelled by \($0.by): \($0.why)" } ?? "") · <span class="code">\(campaign.id)</span></p>
        \(report.map(progress) ?? "<p class=\"nothing\">No progress yet: the worker renewal-extensions has not counted any notification.</p>")</li>

        """
    }
    return Layout.section(
      "campaigns", "Campaigns", "extensions of renewal dates",
      items.isEmpty ? Layout.nothing("No campaigns.") : "<ul class=\"cards\">\(items)</ul>")
  }

  private func tone(_ campaign: Campaign) -> Tone {
    if campaign.state == .refused { return .bad }
    if campaign.state == .unclear || campaign.cancellation != nil { return .warn }
    return campaign.completion == nil ? .plain : .good
  }

  private func progress(_ report: CampaignReport) -> HTML {
    let progress = report.progress
    let refused = progress.refused.values.reduce(0, +)
    let ended = progress.failures - progress.waiting
    let total = ended + report.waiting
    let bar: HTML =
      total > 0
      ? "<progress max=\"\(total)\" value=\"\(ended)\" aria-label=\"Retries that ended\"></progress>" : ""
    let apple: HTML =
      if let completion = report.campaign.completion {
        "Apple: \(Words.count(completion.succeeded)) extended, \(Words.count(completion.failed)) failed"
      } else {
        "Apple has not reported the completion"
      }
    let parts: [HTML] = [
      "<p>\(apple). \(Words.count(progress.extended)) extensions reported by notifications.</p>", bar,
      total > 0
        ? """
        <p>\(Words.count(ended)) of \(Words.count(total)) failures ended: \(Words.count(progress.applied)) extended, \
        \(Words.count(refused)) refused, \(Words.count(progress.unclear)) unclear, \(Words.count(progress.withheld)) withheld; \
        \(Words.count(report.waiting)) waiting</p>
        """ : "",
      report.undecided > 0
        ? "<p class=\"state warn\">\(report.undecided) need a decision: <code>millrace campaigns resolve</code></p>"
        : "",
    ]
    return "\(parts)"
  }

  var deadlines: HTML {
    guard let deadlines = state.deadlines else {
      return Layout.section(
        "deadlines", "Consumption deadlines", "",
        Layout.nothing("No worker <code>consumption</code> is configured, or its topics are not in the cluster."))
    }
    let rows = deadlines.next.map { request -> HTML in
      let left = request.due - state.wallTime
      return """
        <tr><th scope="row"><a class="code" href="\(Link.to(["timeline"], [("id", request.subject)]))">\(request.subject)</a></th>
        <td class="extra">\(request.bundleId ?? "")</td><td class="due"><span class="state \(Tone(deadline: left).name)">\(left < .zero ? "missed by \(Words.span(.zero - left))" : "in \(Words.span(left))")</span></td>
        <td class="extra">\(Words.exact(request.due))</td></tr>
        """
    }
    let ended = deadlines.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \(Words.count($0.value))" }
    return Layout.section(
      "deadlines", "Consumption deadlines",
      "\(Words.count(deadlines.open)) open\(ended.isEmpty ? "" : " · \(ended.joined(separator: ", "))")",
      rows.isEmpty
        ? Layout.nothing("Every request is answered.")
        : Layout.table(
          "Requests by time left",
          [.init("Purchase"), .init("App", isExtra: true), .init("Due"), .init("At", isExtra: true)], rows))
  }

  var runs: HTML {
    guard let runs = state.runs else {
      return Layout.section("runs", "Replays and backfills", "", Layout.nothing("\(missing("millrace.operations"))"))
    }
    let rows = runs.map { run -> HTML in
      """
      <tr><th scope="row"><a href="\(run.link)">\(run.title)</a></th>
      <td><progress max="\(max(1, run.total))" value="\(min(run.done, run.total))" aria-label="\(run.progressWords)"></progress> <span class="num">\(run.progressWords)</span></td>
      <td><span class="state \(run.tone.name)">\(run.state)</span></td><td class="extra">\(run.by)</td>
      <td class="extra">\(Words.relative(run.startedAt, now: state.wallTime))</td></tr>
      """
    }
    return Layout.section(
      "runs", "Replays and backfills", "",
      rows.isEmpty
        ? Layout.nothing("No replays or backfills.")
        : Layout.table(
          "Runs, the newest first",
          [
            .init("Run"), .init("Progress"), .init("State"), .init("By", isExtra: true),
            .init("Started", isExtra: true),
          ], rows
        ))
  }

  var audit: HTML {
    guard let audit = state.audit else {
      return Layout.section("audit", "Audit trail", "", Layout.nothing("\(missing(AuditRecord.topic))"))
    }
    let rows = audit.map { line -> HTML in
      let entry = line.entry
      let counts = entry.counts.filter { $0.count != 0 }.map { "\(Words.count($0.count)) \($0.name)" }.joined(
        separator: ", ")
      let result: HTML =
        switch line.status {
        case .over(let result):
          "<span class=\"state \(result == .done ? "good" : "warn")\">\(result.rawValue)</span> \(result.detail ?? "")"
        case .goingOn: "<span class=\"state\">running</span>"
        case .paused: "<span class=\"state warn\">paused</span>"
        case .silent(let since):
          "<span class=\"state warn\">silent since</span> \(Words.relative(since, now: state.now))"
        }
      let name: HTML =
        entry.action.hasOutcomes
        ? "<a href=\"\(Link.to(["runs", entry.run]))\">\(entry.action.rawValue)</a>" : "\(entry.action.rawValue)"
      return """
        <tr><td>\(Words.relative(entry.startedAt, now: state.wallTime))</td><th scope="row">\(name)</th>
        <td>\(entry.by)</td><td class="extra">\(entry.target ?? "")</td><td>\(result)</td><td>\(counts)</td>
        <td class="extra">\(entry.why ?? "")</td></tr>
        """
    }
    return Layout.section(
      "audit", "Audit trail", "operators' actions, the newest first",
      rows.isEmpty
        ? Layout.nothing("No actions yet.")
        : Layout.table(
          "Actions",
          [
            .init("When"), .init("Action"), .init("By"), .init("Target", isExtra: true), .init("Result"),
            .init("Counts"),
            .init("Why", isExtra: true),
          ], rows))
  }

  private func missing(_ topic: String) -> HTML {
    "The topic <code>\(topic)</code> is not in the cluster: <code>millrace topics apply</code> creates it."
  }
}
