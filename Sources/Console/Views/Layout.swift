// The common layout of all pages.

internal import MillraceCore

/// The visitor and the options that affect every page.
struct PageContext: Sendable {
  var visitor: Visitor
  /// Whether the console allows actions.
  var allowsActions: Bool
  var showsPayloads: Bool
  /// The release, which is part of asset URLs so that a new release does not use cached files of an old one.
  static let release = MillraceVersion.current
}

/// Builds pages from their content.
enum Layout {
  /// The sections of the first page, in order.
  static let sections: [(id: String, name: String)] = [
    ("dead-letters", "Dead letters"), ("deadlines", "Deadlines"), ("lag", "Workers"), ("history", "History"),
    ("retries", "Retries"), ("limits", "Apple's limits"), ("flow", "Throughput"), ("refusals", "Refused"),
    ("campaigns", "Campaigns"),
    ("runs", "Runs"),
    ("audit", "Audit"),
  ]

  static func page(_ title: String, _ context: PageContext, isLive: Bool = false, _ content: HTML) -> HTML {
    "\(top(title, context, isLive: isLive))\(content)\(bottom)"
  }

  /// Everything before the content. A streamed page writes it first.
  static func top(_ title: String, _ context: PageContext, isLive: Bool = false) -> HTML {
    let live: HTML = isLive ? " data-live=\"/live\"" : ""
    let mode: HTML =
      context.visitor.mayAct
      ? "<span class=\"badge act\">actions allowed</span>" : "<span class=\"badge\">read-only</span>"
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(title) · Millrace</title>
      <link rel="icon" type="image/svg+xml" href="/console.svg?v=\(PageContext.release)">
      <link rel="stylesheet" href="/console.css?v=\(PageContext.release)">
      <script src="/console.js?v=\(PageContext.release)" defer></script>
      </head>
      <body>
      <a class="skip" href="#content">Skip to content</a>
      <header class="bar">
      <div class="inner">
      <a class="brand" href="/"><svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><circle cx="12" cy="12" r="9" fill="none" stroke="currentColor" stroke-width="2"/><path d="M12 3v18M3 12h18M5.6 5.6l12.8 12.8M18.4 5.6L5.6 18.4" stroke="currentColor" stroke-width="1.4"/><circle cx="12" cy="12" r="2.6" fill="currentColor"/></svg>Millrace</a>
      <form class="find" action="/timeline" method="get" role="search">
      <label class="hidden" for="find">Customer: transaction, order, token or notification</label>
      <input id="find" name="id" placeholder="Transaction, order, token …" autocomplete="off">
      <button>Timeline</button>
      </form>
      <p class="who">\(mode)<span class="user">\(context.visitor.name)</span></p>
      </div>
      </header>
      <nav class="places" aria-label="Sections"><ul class="inner">\(places)</ul></nav>
      <main id="content" class="inner" tabindex="-1"\(live)>

      """
  }

  static let bottom: HTML = """
    </main>
    <footer class="inner"><p>Millrace console \(PageContext.release) · times are UTC · all data is read from Kafka</p></footer>
    </body>
    </html>

    """

  private static var places: [HTML] {
    sections.map { "<li><a href=\"/#\($0.id)\">\($0.name)</a></li>" } + [
      "<li><a href=\"/quarantine\">Quarantine</a></li>"
    ]
  }

  /// A choice of a form, with "any" before the values.
  static func choice(_ name: String, _ values: [String], _ chosen: String) -> HTML {
    let options = values.map { value -> HTML in
      "<option value=\"\(value)\"\(value == chosen ? " selected" : nil as HTML?)>\(value)</option>"
    }
    return "<select id=\"\(name)\" name=\"\(name)\"><option value=\"\">any</option>\(options)</select>"
  }

  /// Links to the neighbouring pages of a list.
  static func pager(
    _ path: [String], _ query: [(String, String)], from start: Int, shown: Int, of count: Int, by size: Int
  ) -> HTML {
    func link(_ start: Int, _ words: HTML) -> HTML {
      "<a href=\"\(Link.to(path, query + [("from", start == 0 ? "" : "\(start)")]))\">\(words)</a>"
    }
    let newer: HTML? = start > 0 ? link(max(0, start - size), "← newer") : nil
    let older: HTML? = start + shown < count && shown > 0 ? link(start + shown, "older →") : nil
    guard newer != nil || older != nil else { return "" }
    return """
      <nav class="pager" aria-label="Pages">\(newer)<span>\(Words.count(start + 1)) to \(Words.count(start + shown))</span>\(older)</nav>
      """
  }

  /// A note in place of a payload.
  static var payloadHidden: HTML {
    nothing(
      "Not shown, because payloads are personal data. Start the console with <code>--show-payloads</code> to see them.")
  }

  /// A section of the first page.
  static func section(_ id: String, _ title: String, _ note: HTML, _ content: HTML) -> HTML {
    """
    <section id="\(id)" aria-labelledby="\(id)-title">
    <div class="head"><h2 id="\(id)-title">\(title)</h2><p>\(note)</p></div>
    \(content)
    </section>

    """
  }

  /// A note in place of a list that is empty.
  static func nothing(_ words: HTML) -> HTML { "<p class=\"nothing\">\(words)</p>" }

  /// A table that scrolls horizontally on a narrow screen.
  static func table(_ caption: String, _ columns: [Column], _ rows: [HTML]) -> HTML {
    let heads = columns.map { column -> HTML in "<th scope=\"col\"\(column.attributes)>\(column.name)</th>" }
    return """
      <div class="scroll" role="region" aria-label="\(caption)" tabindex="0">
      <table><caption class="hidden">\(caption)</caption><thead><tr>\(heads)</tr></thead><tbody>
      \(rows)
      </tbody></table></div>
      """
  }

  struct Column: Sendable {
    var name: String
    var isNumber = false
    /// Hidden on a phone.
    var isExtra = false

    init(_ name: String, isNumber: Bool = false, isExtra: Bool = false) {
      (self.name, self.isNumber, self.isExtra) = (name, isNumber, isExtra)
    }

    var attributes: HTML {
      switch (isNumber, isExtra) {
      case (true, true): " class=\"num extra\""
      case (true, false): " class=\"num\""
      case (false, true): " class=\"extra\""
      case (false, false): ""
      }
    }
  }

  /// A page that reports a refusal or an error.
  static func problem(_ title: String, _ words: HTML, _ context: PageContext) -> HTML {
    page(
      title, context,
      "<section class=\"problem\"><h1>\(title)</h1><p>\(words)</p><p><a href=\"/\">Back to the overview</a></p></section>"
    )
  }
}
