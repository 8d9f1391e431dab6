// The page of one run, with its controls.

internal import AppStore
internal import MillraceWorker
internal import Operations

struct RunView: Sendable {
  let run: RunSummary
  /// The counts of its records; nil if they were not read.
  let counts: RunCounts?
  let token: String
  let now: Timestamp
  let context: PageContext
  /// The action that the user has just requested.
  var asked: RunVerb?

  var page: HTML {
    let facts = ([("by", run.by), ("id", run.id)] + run.facts.map { ($0.name, $0.value) }).filter { !$0.1.isEmpty }
      .map { name, value -> HTML in "<dt>\(name)</dt><dd>\(value)</dd>" }
    return Layout.page(
      "Run \(run.id)", context,
      """
      <p class="crumbs"><a href="/#\(run.kind == .action ? "audit" : "runs")">\(run.kind == .action ? "Audit trail" : "Replays and backfills")</a></p>
      <h1>\(run.title) <span class="state \(run.tone.name)">\(run.state)</span></h1>
      \(asked.map { "<p class=\"banner\" role=\"status\">Requested: \($0.rawValue). The process that carries out the run reacts within seconds.</p>" as HTML })
      <p><progress max="\(max(1, run.total))" value="\(min(run.done, run.total))" aria-label="Progress"></progress> \(run.progressWords)</p>
      \(actions)
      <dl class="facts"><dt>started</dt><dd>\(Words.exact(run.startedAt)), \(Words.relative(run.startedAt, now: now))</dd>
      <dt>last report</dt><dd>\(Words.exact(run.heardAt)), \(Words.relative(run.heardAt, now: now))</dd>\(facts)</dl>
      \(outcomes)
      """)
  }

  private var outcomes: HTML {
    guard let counts else { return "" }
    let content: HTML =
      switch counts {
      case .unknown(let why): Layout.nothing("\(why)")
      case .known(let workers) where workers.isEmpty: Layout.nothing("No worker has records of this run.")
      case .known(let workers): table(workers)
      }
    return "<h2>What became of the records</h2>\(content)"
  }

  private func table(_ workers: [RunStatus.Counts]) -> HTML {
    let labels = RunStatus.labels(of: workers)
    let rows = workers.map { worker -> HTML in
      let cells = labels.map { label -> HTML in
        "<td class=\"num\">\(worker.facts.first { $0.label == label }.map { Words.count($0.count) } ?? "·")</td>"
      }
      return "<tr><th scope=\"row\">\(worker.worker ?? run.title)</th>\(cells)</tr>"
    }
    return Layout.table(
      "Records by what became of them", [.init("Worker")] + labels.map { .init($0, isNumber: true) }, rows)
  }

  private var actions: HTML {
    guard context.visitor.mayAct, !run.verbs.isEmpty else { return "" }
    let buttons = run.verbs.map { verb -> HTML in
      "<button name=\"verb\" value=\"\(verb.rawValue)\" class=\"\(verb == .stop ? "danger" : "go")\">\(verb.words)</button> "
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
    case .resume: "Resume"
    case .stop: "Stop permanently"
    }
  }
}
