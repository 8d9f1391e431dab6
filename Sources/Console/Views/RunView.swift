// One run in detail, and what may be wished of it.

internal import AppStore
internal import Operations

/// The page of a run.
struct RunView: Sendable {
  let run: RunSummary
  let token: String
  let now: Timestamp
  let context: PageContext
  /// What was just asked for.
  var asked: RunVerb?

  var page: HTML {
    let facts = ([("by", run.by), ("id", run.id)] + run.facts.map { ($0.name, $0.value) }).filter { !$0.1.isEmpty }
      .map { name, value -> HTML in "<dt>\(name)</dt><dd>\(value)</dd>" }
    return Layout.page(
      "Run \(run.id)", context,
      """
      <p class="crumbs"><a href="/#runs">Replays and backfills</a></p>
      <h1>\(run.title) <span class="state \(run.tone.name)">\(run.state)</span></h1>
      \(asked.map { "<p class=\"banner\" role=\"status\">Asked to \($0.rawValue); the process that works on it hears of it within seconds.</p>" as HTML })
      <p><progress max="\(max(1, run.total))" value="\(min(run.done, run.total))" aria-label="Done"></progress> \(run.progressWords)</p>
      \(actions)
      <dl class="facts"><dt>begun</dt><dd>\(Words.exact(run.startedAt)), \(Words.relative(run.startedAt, now: now))</dd>
      <dt>heard of</dt><dd>\(Words.exact(run.heardAt)), \(Words.relative(run.heardAt, now: now))</dd>\(facts)</dl>
      """)
  }

  private var actions: HTML {
    guard context.visitor.mayAct, !run.wishes.isEmpty else { return "" }
    let buttons = run.wishes.map { wish -> HTML in
      "<button name=\"wish\" value=\"\(wish.rawValue)\" class=\"\(wish == .stop ? "danger" : "go")\">\(wish.words)</button> "
    }
    return """
      <form class="actions" method="post" action="\(run.link)" aria-label="Control"><input type="hidden" name="token" value="\(token)">\(buttons)</form>
      """
  }
}

extension RunVerb {
  fileprivate var words: String {
    switch self {
    case .pause: "Pause"
    case .resume: "Go on"
    case .stop: "Stop for good"
    }
  }
}
