// The pages for dead letters: the list, the details of one, the confirmation of a decision and its result.

internal import AppStore
internal import KafkaClient
internal import MillraceWorker
internal import Operations

struct DeadLetterListView: Sendable {
  let listing: DeadLetterListing
  let context: PageContext

  static let pageSize = 50

  var page: HTML {
    Layout.page(
      "Dead letters", context,
      """
      <h1>Dead letters</h1>
      \(search)
      \(listing.isCaughtUp ? nil : "<p class=\"banner\" role=\"status\">Still reading: the list is incomplete.</p>")
      <p class="count" role="status">\(Words.count(listing.page.count)) found\(listing.dropped > 0 ? "; \(Words.count(listing.dropped)) older ones are not kept in memory" : "")</p>
      \(listing.page.letters.isEmpty ? Layout.nothing("No dead letter matches.") : list)
      """)
  }

  private var search: HTML {
    let query = listing.query
    let states = DeadLetterQuery.Status.allCases.map { state -> HTML in
      "<option value=\"\(state.rawValue)\"\(state == query.status ? " selected" : nil as HTML?)>\(state.rawValue)</option>"
    }
    return """
      <form class="search" method="get" action="/dead-letters" role="search" aria-label="Dead letters">
      <p><label for="q">Search</label><input id="q" name="q" value="\(query.text)" placeholder="id, type, detail …"></p>
      <p><label for="worker">Worker</label>\(Layout.choice("worker", listing.workers, query.worker))</p>
      <p><label for="reason">Reason</label>\(Layout.choice("reason", listing.reasons, query.reason))</p>
      <p><label for="app">App</label>\(Layout.choice("app", listing.apps, query.bundleId))</p>
      <p><label for="state">State</label><select id="state" name="state">\(states)</select></p>
      <p><button>Search</button></p>
      </form>
      """
  }

  private var list: HTML {
    let rows = listing.page.letters.map { letter -> HTML in
      let box: HTML =
        context.visitor.mayAct
        ? """
        <td><input type="checkbox" name="item" value="\(letter.key.worker)/\(letter.id)" aria-label="Select \(letter.key.worker) \(letter.id)"\(letter.isOpen ? nil : " disabled" as HTML?)></td>
        """ : ""
      return """
        <tr>\(box)<td>\(Words.relative(letter.diedAt, now: listing.now))</td>
        <th scope="row"><a href="\(letter.key.link)"><span class="code">\(letter.reason)</span></a><span class="sub">\(letter.detail)</span></th>
        <td class="extra">\(Words.breakable(letter.type ?? ""))</td><td class="extra name">\(letter.key.worker)</td><td class="extra code">\(letter.subject ?? "")</td>
        <td><span class="state \(letter.isOpen ? "warn" : "plain")">\(letter.state)</span>\(letter.by.map { " <span class=\"sub\">by \($0)</span>" as HTML })\(letter.failure.map { " <span class=\"sub\">\($0)</span>" as HTML })</td></tr>
        """
    }
    let columns: [Layout.Column] =
      (context.visitor.mayAct ? [.init("Select")] : [])
      + [
        .init("Died"), .init("Reason"), .init("Type", isExtra: true), .init("Worker", isExtra: true),
        .init("Purchase", isExtra: true), .init("State"),
      ]
    let table = Layout.table("Dead letters, the newest first", columns, rows)
    let pages = "\(pager)" as HTML
    guard context.visitor.mayAct else { return "\(table)\(pages)" }
    let hidden = listing.query.items.map { name, value -> HTML in
      "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }
    return """
      <form method="get" action="/dead-letters/decide" aria-label="Decide">\(hidden)\(table)
      <p class="actions"><button name="do" value="requeue">Requeue selected …</button>
      <button name="do" value="discard" class="quiet">Discard selected …</button>
      <label><input type="checkbox" name="all" value="1"> \(everything)</label></p></form>
      \(pages)
      """
  }

  /// The label of the checkbox that selects all matches.
  private var everything: HTML {
    let (count, limit) = (listing.page.count, DeadLetterService.limit)
    if listing.query.status != .open { return "all open ones found, at most the newest \(Words.count(limit))" }
    return count > limit
      ? "the newest \(Words.count(limit)) of \(Words.count(count)) found" : "all \(Words.count(count)) found"
  }

  private var pager: HTML {
    Layout.pager(
      ["dead-letters"], listing.query.items, from: listing.start, shown: listing.page.letters.count,
      of: listing.page.count, by: Self.pageSize)
  }
}

extension DeadLetterKey {
  var link: String { Link.to(["dead-letters", worker, "\(id.lane)", "\(id.offset)"]) }
}

struct DeadLetterView: Sendable {
  let entry: DeadLetterEntry
  let record: RecordView
  /// Whether the console keeps it in memory, so that it can be selected.
  let isKept: Bool
  /// The payload; nil unless the console shows payloads.
  let payload: String?
  let now: Timestamp
  let context: PageContext

  var page: HTML {
    Layout.page(
      "Dead letter \(entry.id)", context,
      """
      <p class="crumbs"><a href="/dead-letters">Dead letters</a> › \(entry.key.worker)</p>
      <h1><span class="code">\(entry.reason)</span> <span class="state \(entry.isOpen ? "warn" : "plain")">\(entry.state)\(entry.by.map { " by \($0)" } ?? "")</span></h1>
      <p class="lead">\(entry.detail)</p>
      <p class="remedy"><strong>What to do:</strong> \(entry.remedy)</p>
      \(entry.failure.map { "<p class=\"remedy\"><strong>Last command:</strong> \($0)</p>" as HTML })
      \(actions)
      <h2>Details</h2><dl class="facts">\(facts)</dl>
      <h2>Earlier attempts</h2>\(causes)
      <h2>Payload</h2>\(content)
      """)
  }

  private var actions: HTML {
    guard entry.isOpen else { return "" }
    guard context.visitor.mayAct, isKept else {
      let why =
        context.visitor.mayAct ? "This dead letter is older than those that the console keeps in memory" : "Read-only"
      return """
        <p class="nothing">\(why). Use the command line: <code>millrace dead-letters requeue \(entry.id) --worker \(entry.key.worker) --why …</code></p>
        """
    }
    return """
      <form class="actions" method="get" action="/dead-letters/decide" aria-label="Decide"><input type="hidden" name="item" value="\(entry.key.worker)/\(entry.id)">
      <button name="do" value="requeue">Requeue …</button> <button name="do" value="discard" class="quiet">Discard …</button></form>
      """
  }

  private var facts: [HTML] {
    let first = "\(entry.first.topic), partition \(entry.first.partition), offset \(entry.first.offset)"
    let timeline: HTML? = entry.subject.map {
      "<a class=\"code\" href=\"\(Link.to(["timeline"], [("id", $0)]))\">\($0)</a>"
    }
    let all: [(HTML, HTML?)] = [
      ("Type", entry.type.map { "\($0)" }), ("App", entry.bundleId.map { "\($0), \(entry.environment ?? "")" }),
      ("Purchase", timeline), ("Notification", entry.notificationID.map { "<span class=\"code\">\($0)</span>" }),
      ("Signed", record.signedDate.map { Words.exact($0) }),
      ("Died", "\(Words.exact(entry.diedAt)), \(Words.relative(entry.diedAt, now: now))"),
      ("Last answer", entry.answer.map { "<span class=\"code\">\($0)</span>" }),
      ("Attempts", "\(entry.attempts)"), ("First read from", "<span class=\"code\">\(first)</span>"),
      (
        "Position",
        "<span class=\"code\">\(record.topic), partition \(record.partition), offset \(record.offset)</span>"
      ),
      ("Problems", record.problems.isEmpty ? nil : "\(record.problems.joined(separator: "; "))"),
    ]
    return all.compactMap { name, value in value.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }
  }

  private var causes: HTML {
    guard !entry.causes.isEmpty else { return Layout.nothing("There were none.") }
    return "<ol class=\"causes\">\(entry.causes.map { "<li>\($0)</li>" as HTML })</ol>"
  }

  private var content: HTML {
    guard context.showsPayloads else {
      return Layout.payloadHidden
    }
    return payload.map { "<pre tabindex=\"0\">\($0)</pre>" } ?? Layout.nothing("The record has no payload.")
  }
}

/// Asks the user to confirm a decision.
struct DecisionView: Sendable {
  let decision: OperationReport.Action
  let letters: [DeadLetterEntry]
  /// The number of matches beyond the limit of one decision.
  let rest: Int
  let token: String
  let now: Timestamp
  let context: PageContext

  static let shown = 20

  var page: HTML {
    let count = letters.count
    let rows = letters.prefix(Self.shown).map { letter -> HTML in
      """
      <tr><th scope="row"><a class="code" href="\(letter.key.link)">\(letter.reason)</a><span class="sub">\(letter.key.worker)</span></th>
      <td>\(Words.breakable(letter.type ?? ""))</td>
      <td class="extra code">\(letter.subject ?? "")</td><td>\(Words.relative(letter.diedAt, now: now))</td></tr>
      """
    }
    let items = letters.map { letter -> HTML in
      "<input type=\"hidden\" name=\"item\" value=\"\(letter.key.worker)/\(letter.id)\">"
    }
    return Layout.page(
      "\(decision.verb)?", context,
      """
      <p class="crumbs"><a href="/dead-letters">Dead letters</a> › \(decision.rawValue)</p>
      <h1>\(decision.verb) \(Words.count(count)) dead \(count == 1 ? "letter" : "letters")?</h1>
      <p class="lead">\(meaning)</p>
      \(Layout.table("Selected dead letters", [.init("Reason"), .init("Type"), .init("Purchase", isExtra: true), .init("Died")], Array(rows)))
      \(rest > 0 ? "<p class=\"banner\" role=\"status\">\(Words.count(rest)) more were found and are not included: one decision covers the newest \(Words.count(DeadLetterService.limit)) at most.</p>" : nil as HTML?)
      \(count > Self.shown ? "<p>and \(Words.count(count - Self.shown)) more</p>" : nil as HTML?)
      <form class="decide" method="post" action="/dead-letters/\(decision.rawValue)" aria-label="\(decision.verb)">
      <input type="hidden" name="token" value="\(token)">\(items)
      <p><label for="why">Why</label><input id="why" name="why" required maxlength="500" aria-describedby="why-note" autocomplete="off"></p>
      <p id="why-note" class="sub">Stored with the commands and in the audit trail, under your name: \(context.visitor.name).</p>
      <p class="actions"><button class="\(decision == .discard ? "danger" : "go")">\(decision.verb)</button> <a href="/dead-letters">Cancel</a></p>
      </form>
      """)
  }

  private var meaning: HTML {
    decision == .requeue
      ? "The worker that gave up on them processes them again; no other worker does. Live traffic keeps its priority. A record that fails again becomes a dead letter with its whole history."
      : "They stay in the topic, but they can no longer be requeued."
  }
}

/// Shows the result of a decision.
struct DecisionOutcomeView: Sendable {
  let decision: OperationReport.Action
  let outcomes: [DecisionOutcome]
  let context: PageContext

  var page: HTML {
    let done = outcomes.count { $0.tone == .good }
    let rows = outcomes.prefix(200).map { outcome -> HTML in
      """
      <tr><th scope="row"><a class="code" href="\(outcome.key.link)">\(outcome.key.worker) \(outcome.key.id)</a></th>
      <td><span class="state \(outcome.tone.name)">\(outcome.words)</span></td></tr>
      """
    }
    return Layout.page(
      "\(decision.verb): done", context,
      """
      <p class="crumbs"><a href="/dead-letters">Dead letters</a> › \(decision.rawValue)</p>
      <h1>\(Words.count(done)) of \(Words.count(outcomes.count)) \(decision.participle)</h1>
      \(Layout.table("Outcome of each", [.init("Dead letter"), .init("Outcome")], Array(rows)))
      <p><a href="/dead-letters">Back to the list</a></p>
      """)
  }
}
