// The pages about the quarantine: the list, the details of one body, the confirmation of a resubmission and its result.
// Type, app and environment are what a body claims; nothing about it is verified.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords
internal import Operations

struct QuarantineListView: Sendable {
  let listing: QuarantineListing
  let context: PageContext

  static let pageSize = 50

  var page: HTML {
    Layout.page(
      "Quarantine", context,
      """
      <h1>Quarantine</h1>
      <p class="lead">Bodies that the ingress refused and that may be genuine. Nothing that they claim is verified.</p>
      \(search)
      <p class="count" role="status">\(Words.count(listing.count)) found\(listing.older > 0 ? "; \(Words.count(listing.older)) older records are not read" : "")</p>
      \(listing.entries.isEmpty ? Layout.nothing("No body matches.") : list)
      """)
  }

  private var search: HTML {
    """
    <form class="search" method="get" action="/quarantine" role="search" aria-label="Quarantine">
    <p><label for="reason">Reason</label>\(Layout.choice("reason", listing.reasons, listing.query.reason))</p>
    <p><label for="app">App</label>\(Layout.choice("app", listing.apps, listing.query.bundleId))</p>
    <p><button>Search</button></p>
    </form>
    """
  }

  private var list: HTML {
    let rows = listing.entries.map { entry -> HTML in
      let box: HTML =
        context.visitor.mayAct
        ? "<td><input type=\"checkbox\" name=\"item\" value=\"\(entry.id)\" aria-label=\"Select \(entry.shownID)\"></td>"
        : ""
      return """
        <tr>\(box)<td>\(entry.lastSeen.map { Words.relative($0, now: listing.now) } ?? "–")</td>
        <th scope="row"><a href="\(entry.link)"><span class="code">\(entry.reasonText)</span></a><span class="sub code">\(entry.shownID)</span></th>
        <td class="extra">\(Words.breakable(entry.type ?? ""))</td><td>\(entry.bundleId ?? "")</td>
        <td class="extra code">\(entry.claims.originalTransactionID ?? "")</td>
        <td class="extra">\(entry.environment ?? "")</td><td class="num extra">\(Words.count(entry.count))</td>
        <td class="num">\(HumanText.size(entry.size))</td></tr>
        """
    }
    let columns: [Layout.Column] =
      (context.visitor.mayAct ? [.init("Select")] : [])
      + [
        .init("Last seen"), .init("Reason"), .init("Type", isExtra: true), .init("App"),
        .init("Transaction", isExtra: true), .init("Environment", isExtra: true),
        .init("Times", isNumber: true, isExtra: true),
        .init("Size", isNumber: true),
      ]
    let table = Layout.table("Bodies in the quarantine, the newest first", columns, rows)
    guard context.visitor.mayAct else { return "\(table)\(pager)" }
    let hidden = listing.query.items.map { name, value -> HTML in
      "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }
    let limit = QuarantineService.limit
    let everything =
      listing.count > limit
      ? "the newest \(Words.count(limit)) of \(Words.count(listing.count)) found"
      : "all \(Words.count(listing.count)) found"
    return """
      <form method="get" action="/quarantine/resubmit" aria-label="Resubmit">\(hidden)\(table)
      <p class="actions"><button>Resubmit selected …</button>
      <label><input type="checkbox" name="all" value="1"> \(everything)</label></p></form>
      \(pager)
      """
  }

  private var pager: HTML {
    Layout.pager(
      ["quarantine"], listing.query.items, from: listing.start, shown: listing.entries.count, of: listing.count,
      by: Self.pageSize)
  }
}

struct QuarantineBodyView: Sendable {
  let entry: QuarantineEntry
  let record: ConsumerRecord
  /// The body; nil unless the console shows payloads.
  let payload: String?
  let now: Timestamp
  let context: PageContext

  var page: HTML {
    Layout.page(
      "Quarantined body \(entry.shownID)", context,
      """
      <p class="crumbs"><a href="/quarantine">Quarantine</a></p>
      <h1><span class="code">\(entry.reasonText)</span></h1>
      <p class="remedy"><strong>What to do:</strong> \(entry.remedy)</p>
      \(action)
      <h2>Details</h2><dl class="facts">\(facts)</dl>
      <h2>Payload</h2>\(content)
      """)
  }

  private var action: HTML {
    guard context.visitor.mayAct else {
      return """
        <p class="nothing">Read-only. Use the command line: <code>millrace quarantine resubmit --id \(entry.shownID)</code></p>
        """
    }
    return """
      <form class="actions" method="get" action="/quarantine/resubmit" aria-label="Resubmit"><input type="hidden" name="item" value="\(entry.id)">
      <button>Resubmit …</button></form>
      """
  }

  private var facts: [HTML] {
    let all: [(HTML, HTML?)] = [
      ("Claims the type", entry.type.map { "\($0)" }),
      ("Claims the app", entry.bundleId.map { "\($0), \(entry.environment ?? "")" }),
      (
        "Claims the transaction",
        entry.claims.originalTransactionID.map {
          "<a class=\"code\" href=\"\(Link.to(["timeline"], [("id", $0)]))\">\($0)</a>"
        }
      ),
      ("Claims the notification", entry.claims.notificationID.map { "<span class=\"code\">\($0)</span>" }),
      ("Posted to", "/\(entry.version.rawValue)"), ("Size", "\(HumanText.size(entry.size))"),
      ("First seen", entry.firstSeen.map { "\(Words.exact($0)), \(Words.relative($0, now: now))" }),
      ("Last seen", entry.lastSeen.map { "\(Words.exact($0)), \(Words.relative($0, now: now))" }),
      ("Copies", "\(Words.count(entry.count))"), ("ID", "<span class=\"code\">\(entry.id)</span>"),
      (
        "Position",
        "<span class=\"code\">\(record.topic), partition \(record.partition), offset \(record.offset)</span>"
      ),
    ]
    return all.compactMap { name, value in value.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }
  }

  private var content: HTML {
    guard context.showsPayloads else { return Layout.payloadHidden }
    return payload.map { "<pre tabindex=\"0\">\($0)</pre>" } ?? Layout.nothing("The record has no payload.")
  }
}

/// Asks the user to confirm a resubmission.
struct ResubmissionView: Sendable {
  let entries: [QuarantineEntry]
  /// The number of matches beyond the limit of one decision.
  let rest: Int
  let token: String
  let now: Timestamp
  let context: PageContext

  static let shown = 20

  var page: HTML {
    let count = entries.count
    let rows = entries.prefix(Self.shown).map { entry -> HTML in
      """
      <tr><th scope="row"><a class="code" href="\(entry.link)">\(entry.reasonText)</a><span class="sub code">\(entry.shownID)</span></th>
      <td class="extra">\(Words.breakable(entry.type ?? ""))</td><td>\(entry.bundleId ?? "")</td>
      <td>\(entry.lastSeen.map { Words.relative($0, now: now) } ?? "–")</td></tr>
      """
    }
    let items = entries.map { entry -> HTML in "<input type=\"hidden\" name=\"item\" value=\"\(entry.id)\">" }
    return Layout.page(
      "Resubmit?", context,
      """
      <p class="crumbs"><a href="/quarantine">Quarantine</a> › resubmit</p>
      <h1>Resubmit \(Words.count(count)) \(count == 1 ? "body" : "bodies")?</h1>
      <p class="lead">The console verifies them again with its configuration. It writes those that are now admitted to their topics, as the ingress would have done. The others stay in the quarantine.</p>
      \(Layout.table("Selected bodies", [.init("Reason"), .init("Type", isExtra: true), .init("App"), .init("Last seen")], Array(rows)))
      \(rest > 0 ? "<p class=\"banner\" role=\"status\">\(Words.count(rest)) more were found and are not included: one decision covers the newest \(Words.count(QuarantineService.limit)) at most.</p>" : nil as HTML?)
      \(count > Self.shown ? "<p>and \(Words.count(count - Self.shown)) more</p>" : nil as HTML?)
      <form class="decide" method="post" action="/quarantine/resubmit" aria-label="Resubmit">
      <input type="hidden" name="token" value="\(token)">\(items)
      <p><label for="why">Why</label><input id="why" name="why" required maxlength="500" aria-describedby="why-note" autocomplete="off"></p>
      <p id="why-note" class="sub">Stored in the audit trail, under your name: \(context.visitor.name).</p>
      <p class="actions"><button class="go">Resubmit</button> <a href="/quarantine">Cancel</a></p>
      </form>
      """)
  }
}

/// Shows the result of a resubmission.
struct ResubmissionOutcomeView: Sendable {
  let outcomes: [ResubmissionOutcome]
  let context: PageContext

  var page: HTML {
    let done = outcomes.count { if case .written = $0.result { true } else { false } }
    let rows = outcomes.prefix(200).map { outcome -> HTML in
      let (words, tone) = outcome.words
      return """
        <tr><th scope="row"><a class="code" href="\(Link.to(["quarantine", outcome.id]))">\(String(outcome.id.prefix(16)))</a></th>
        <td><span class="state \(tone.name)">\(words)</span></td></tr>
        """
    }
    return Layout.page(
      "Resubmit: done", context,
      """
      <p class="crumbs"><a href="/quarantine">Quarantine</a> › resubmit</p>
      <h1>\(Words.count(done)) of \(Words.count(outcomes.count)) written</h1>
      \(Layout.table("Outcome of each", [.init("Body"), .init("Outcome")], Array(rows)))
      <p><a href="/quarantine">Back to the list</a></p>
      """)
  }
}

extension ResubmissionOutcome {
  fileprivate var words: (String, Tone) {
    switch result {
    case .admitted: ("would be written", .plain)
    case .written(let position):
      ("written to \(position.topic), partition \(position.partition), offset \(position.offset)", .good)
    case .refused(let refusal): ("still refused: \(refusal)", .warn)
    case .failed(let error): ("not written: \(error)", .bad)
    }
  }
}
