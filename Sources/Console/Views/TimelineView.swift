// The page of a subscription's timeline, which is streamed while the records are read.

internal import AppStore
internal import KafkaClient
internal import Operations

/// The parts of a timeline's page, in the order in which they are written.
struct TimelineView: Sendable {
  let subject: String
  let days: Int
  let context: PageContext

  static let choices = [1, 7, 30, 90, 180, 365]

  /// Everything before the search of the customer.
  var beginning: HTML {
    """
    \(Layout.top("Timeline of \(subject)", context))
    <h1>Timeline of <span class="code">\(subject)</span></h1>
    \(form)

    """
  }

  /// The state of the customer, and the start of the list.
  func start(_ state: CustomerState, relation: String?, now: Timestamp) -> HTML {
    let facts = state.facts(at: now).map { fact -> HTML in "<dt>\(fact.name)</dt><dd>\(fact.value)</dd>" }
    let words: HTML? = relation.map { "<p>Found by its \($0).</p>" }
    return """
      <section class="card" aria-label="State">\(words)<dl class="facts">\(facts)</dl></section>
      <ol class="timeline" aria-label="What happened, the newest first">

      """
  }

  /// The links to several subscriptions and purchases of one customer, and the end of the page.
  func choice(_ keys: [String], relation: String?) -> HTML {
    let items = keys.map { key -> HTML in
      "<li><a class=\"code\" href=\"\(Link.to(["timeline"], [("id", key), ("days", "\(days)")]))\">\(key)</a></li>"
    }
    return """
      <p>This \(relation ?? "id") belongs to several subscriptions and purchases:</p>
      <ul>\(items)</ul>
      \(Layout.bottom)
      """
  }

  /// The page with the search form only.
  var question: HTML {
    Layout.page(
      "Timeline of a subscription", context,
      """
      <h1>Timeline of a subscription</h1>
      <p class="lead">Every notification, event, call, delay and dead letter of one subscription or purchase, the newest first. Any id of the customer finds it: a transaction, an order ID, an <code>appAccountToken</code> or the id of a notification.</p>
      \(form)
      """)
  }

  private var form: HTML {
    let options = Set(Self.choices + [days]).sorted().map { choice -> HTML in
      """
      <option value="\(choice)"\(choice == days ? " selected" : nil as HTML?)>\(choice) \(choice == 1 ? "day" : "days")</option>
      """
    }
    return """
      <form class="search" method="get" action="/timeline" aria-label="Subscription">
      <p><label for="id">Transaction, order, token or notification</label><input id="id" name="id" value="\(subject)" required autocomplete="off"></p>
      <p><label for="days">Period</label><select id="days" name="days">\(options)</select></p>
      <p><button>Show</button></p>
      </form>
      """
  }

  func line(_ entry: TimelineEntry) -> HTML {
    let facts = entry.facts.map { fact -> HTML in "<dt>\(fact.name)</dt><dd>\(fact.value)</dd>" }
    let title: HTML =
      entry.letter.map { "<a href=\"\($0.link)\">\(entry.title)</a>" } ?? "\(entry.title)"
    return """
      <li class="\(entry.kind.rawValue)"><div class="when">\(Words.exact(entry.at))</div>
      <div class="what"><h2><span class="kind">\(entry.kind.words)</span> <span class="code">\(title)</span></h2>
      <p class="sub">\(entry.place) · \(entry.position.topic), partition \(entry.position.partition), offset \(entry.position.offset)</p>
      <dl class="facts small">\(facts)</dl>\(entry.payload.map { "<details><summary>Payload</summary><pre tabindex=\"0\">\($0)</pre></details>" as HTML })</div></li>

      """
  }

  /// An invisible comment that keeps proxies from timing out and detects a closed connection.
  func progress(_ scanned: Int64, _ left: Int64) -> HTML { "<!-- \(scanned) read, \(left) left -->\n" }

  /// Everything after the last entry.
  func end(shown: Int, scanned: Int64, isWhole: Bool) -> HTML {
    let words: HTML =
      if shown == 0 {
        "No records in the last \(days) \(days == 1 ? "day" : "days")."
      } else if isWhole {
        "All entries of the last \(days) \(days == 1 ? "day" : "days"): \(Words.count(shown))."
      } else {
        "Only the newest \(Words.count(shown)) entries are shown; choose a shorter period."
      }
    return
      "</ol>\n<p class=\"end\" role=\"status\">\(words) Records read: \(Words.count(scanned)).</p>\n\(Layout.bottom)"
  }

  /// The end of a timeline whose reading failed.
  /// - Parameter inList: Whether the list of entries has begun.
  func broken(_ problem: String, inList: Bool) -> HTML {
    "\(inList ? "</ol>" : nil as HTML?)\n<p class=\"banner bad\" role=\"alert\">The timeline is incomplete because reading failed: \(problem)</p>\n\(Layout.bottom)"
  }
}

extension TimelineEntry.Kind {
  var words: String {
    switch self {
    case .notification: "notification"
    case .event: "event"
    case .call: "call"
    case .delayed: "delayed"
    case .dead: "dead letter"
    }
  }
}
