// A subscription's story, written while it is found.

internal import AppStore
internal import Kafka

/// The pieces of a story's page.
struct StoryView: Sendable {
  let subject: String
  let days: Int
  let context: PageContext

  static let choices = [1, 7, 30, 90, 180, 365]

  /// Everything before the first line.
  var beginning: HTML {
    """
    \(Layout.top("Story of \(subject)", context))
    <h1>Story of <span class="code">\(subject)</span></h1>
    \(form)
    <ol class="story" aria-label="What happened, the newest first">

    """
  }

  /// The page that asks whose story.
  var question: HTML {
    Layout.page(
      "Story of a subscription", context,
      """
      <h1>Story of a subscription</h1>
      <p class="lead">Every notification, event, call and dead letter of one <code>originalTransactionId</code>, the newest first.</p>
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
      <form class="search" method="get" action="/story" aria-label="Whose story">
      <p><label for="id">Original transaction id</label><input id="id" name="id" value="\(subject)" required autocomplete="off"></p>
      <p><label for="days">As far back as</label><select id="days" name="days">\(options)</select></p>
      <p><button>Tell</button></p>
      </form>
      """
  }

  /// One line.
  func line(_ entry: StoryEntry) -> HTML {
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

  /// Not seen; tells a proxy, and us, that somebody is still there.
  func progress(_ scanned: Int64, _ left: Int64) -> HTML { "<!-- \(scanned) read, \(left) left -->\n" }

  /// Everything behind the last line.
  func end(told: Int, scanned: Int64, isWhole: Bool) -> HTML {
    let words: HTML =
      if told == 0 {
        "Nothing of it in the last \(days) \(days == 1 ? "day" : "days")."
      } else if isWhole {
        "That is all of the last \(days) \(days == 1 ? "day" : "days"): \(Words.count(told)) lines."
      } else {
        "The story is longer than \(Words.count(told)) lines; ask for fewer days."
      }
    return
      "</ol>\n<p class=\"end\" role=\"status\">\(words) \(Words.count(scanned)) records were looked at.</p>\n\(Layout.bottom)"
  }

  /// What stands where the log failed in the middle.
  func broken(_ problem: String) -> HTML {
    "</ol>\n<p class=\"banner bad\" role=\"alert\">The story ends here because it could not be read further: \(problem)</p>\n\(Layout.bottom)"
  }
}

extension StoryEntry.Kind {
  var words: String {
    switch self {
    case .notification: "Apple"
    case .event: "event"
    case .call: "call"
    case .parked: "put aside"
    case .dead: "dead letter"
    }
  }
}
