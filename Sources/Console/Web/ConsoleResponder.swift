// HTTP in front of the views: who asks, then what, then the answer. Reading is GET; whatever changes something is POST, with
// a form of ours.

internal import AppStore
internal import Clocks
internal import HTTPTypes
internal import Hummingbird
internal import Kafka
internal import Logging
internal import Millrace
internal import NIOCore
internal import Operations
internal import ServiceLifecycle

/// Answers requests.
struct ConsoleResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  let policy: AccessPolicy
  let store: ConsoleStore
  let topics: ConsoleTopics
  let settings: ConsoleSettings
  let showsPayloads: Bool
  /// Reaches the log; asked for each use, so that a cluster that was away at the start is found later.
  let log: @Sendable () async throws -> any RecordLog
  /// The time that workers live in.
  let clock: MillraceClock
  /// The time that records are stamped with and pages are pushed by.
  var real = MillraceClock.system
  /// How long the owners of lanes may be silent before a page says so.
  var patience = Duration.seconds(5)
  let logger: Logger
  let places = LivePlaces()

  static let largestForm = 256 << 10

  func respond(to request: Request, context: Context) async throws -> Response {
    let page: PageContext
    do throws(Denial) {
      page = PageContext(
        visitor: try policy.visitor(request.head), allowsActions: policy.allowsActions, showsPayloads: showsPayloads)
    } catch {
      // Nothing of the console is shown to nobody, not even its name.
      return Answers.refused(error)
    }
    do {
      return try await answer(request, page)
    } catch let refusal as Denial {
      return Answers.page(refusal.page(page), status: refusal.status)
    } catch {
      logger.warning("a page failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
      return Answers.page(
        Layout.problem("That did not work", "\("\(error)")", page), status: .serviceUnavailable)
    }
  }

  private func answer(_ request: Request, _ page: PageContext) async throws -> Response {
    let path = request.uri.path.split(separator: "/").map(String.init)
    let query = FormFields(request.uri.query ?? "")
    if request.method == .post { return try await act(path, request, page) }
    guard request.method == .get else { throw Denial.wrongMethod }
    switch path {
    case []: return Answers.page(OverviewView(state: await store.overview(), context: page).page)
    case ["console.css"]: return Answers.file(PackageResources.console_css, type: "text/css; charset=utf-8")
    case ["console.js"]: return Answers.file(PackageResources.console_js, type: "text/javascript; charset=utf-8")
    case ["console.svg"]: return Answers.file(PackageResources.console_svg, type: "image/svg+xml")
    case ["live"]: return live(request, page)
    case ["dead-letters"]: return await list(query, page)
    case ["dead-letters", "decide"]: return try await decide(query, page)
    case ["story"]: return try story(query, request, page)
    case let path where path.count == 2 && path[0] == "runs": return try await run(path[1], page)
    default:
      guard path.count == 4, path[0] == "dead-letters", let id = try? DeadLetterID("\(path[2])/\(path[3])") else {
        throw Denial.notFound
      }
      return try await deadLetter(.init(worker: path[1], id: id), page)
    }
  }

  // MARK: - Reading

  private func list(_ query: FormFields, _ page: PageContext) async -> Response {
    let start = max(0, Int(query["from"]) ?? 0)
    let listing = await store.deadLetters(
      DeadLetterQuery(query), from: start, count: DeadLetterListView.pageSize)
    return Answers.page(DeadLetterListView(listing: listing, context: page).page)
  }

  private func deadLetter(_ key: DeadLetterSummary.Key, _ page: PageContext) async throws -> Response {
    guard topics.workers.contains(key.worker) else { throw Denial.notFound }
    let names = WorkerTopics(worker: key.worker, inputs: [], delays: [], prefix: topics.prefix)
    let partition = TopicPartition(topic: names.deadLetters, partition: key.id.lane)
    guard let record = try await SingleRecord(log: try await log()).read(partition, at: key.id.offset),
      var entry = DeadLetterEntry(record)
    else { throw Denial.notFound }
    let isKept = await store.deadLetter(key) != nil
    if let standing = await store.standing(of: key) {
      (entry.state, entry.by, entry.failure) = standing.ofDeadLetter
    } else if await !store.isCaughtUp, !isKept {
      // What was done about it may be in what is not read yet.
      entry.state = "state not known yet"
    }
    let view = RecordView(record)
    return Answers.page(
      DeadLetterView(
        entry: entry, worker: key.worker, record: view, attempts: Provenance(record).attempt, isKept: isKept,
        subject: view.subject ?? view.key, payload: showsPayloads ? Payload.text(record) : nil, now: clock.wallTime,
        context: page
      ).page)
  }

  private func run(_ id: String, _ page: PageContext, asked: RunVerb? = nil) async throws -> Response {
    guard let run = await store.run(id) else { throw Denial.notFound }
    return Answers.page(
      RunView(
        run: run, token: policy.tokens.token(for: page.visitor.name), now: clock.wallTime, context: page, asked: asked
      ).page)
  }

  private func live(_ request: Request, _ page: PageContext) -> Response {
    let updates = LiveUpdates(clock: real, places: places) { [store] in
      OverviewView(state: await store.overview(), context: page).sections
    }
    return Answers.stream("text/event-stream", of: request) { writer in try await updates.write(to: &writer) }
  }

  private func story(_ query: FormFields, _ request: Request, _ page: PageContext) throws(Denial) -> Response {
    let usual = Int(settings.storyHorizon.components.seconds / 86_400)
    let days = min(max(1, Int(query["days"]) ?? usual), 3_650)
    let view = StoryView(subject: query["id"], days: days, context: page)
    guard !view.subject.isEmpty else { return Answers.page(view.question) }
    guard view.subject.utf8.count <= 256 else { throw .malformed("that is longer than any key") }
    let teller = StoryTeller(topics: topics, subject: view.subject, showsPayloads: showsPayloads)
    let since = real.wallTime - .seconds(Int64(days) * 86_400)
    return Answers.stream("text/html; charset=utf-8", of: request) { [log, logger] writer in
      try await writer.write(view.beginning.text)
      var (told, scanned) = (0, Int64(0))
      do {
        let reader = StoryReader(log: try await log(), teller: teller)
        let isWhole = try await reader.tell(since: since) { news in
          if Task.isShuttingDownGracefully { throw CancellationError() }
          switch news {
          case .entry(let entry):
            told += 1
            try await writer.write(view.line(entry).text)
          case .progress(let count, let left):
            scanned = count
            // Also how a reader that is gone is noticed while nothing is found.
            try await writer.write(view.progress(count, left).text)
          }
        }
        try await writer.write(view.end(told: told, scanned: scanned, isWhole: isWhole).text)
      } catch let error as CancellationError {
        throw error
      } catch let error as KafkaError {
        logger.warning("a story could not be read", metadata: ["error": "\(error)"])
        try await writer.write(view.broken("\(error)").text)
      }
    }
  }

  // MARK: - Acting

  /// The letters that a form or a link chooses, and how many it chooses besides that are too many at a time.
  private func chosen(_ fields: FormFields) async throws(Denial) -> (letters: [DeadLetterSummary], rest: Int) {
    if !fields["all"].isEmpty {
      var query = DeadLetterQuery(fields)
      query.standing = .open
      let page = await store.deadLetters(query, from: 0, count: DeadLetterDesk.limit).page
      return (page.letters, page.count - page.letters.count)
    }
    var letters: [DeadLetterSummary] = []
    let items = fields.all("item")
    guard items.count <= DeadLetterDesk.limit else {
      throw .malformed("at most \(DeadLetterDesk.limit) dead letters at a time")
    }
    for item in items {
      let parts = item.split(separator: "/", maxSplits: 1).map(String.init)
      guard parts.count == 2, let id = try? DeadLetterID(parts[1]),
        let letter = await store.deadLetter(.init(worker: parts[0], id: id))
      else { throw .malformed("a dead letter that is not known here; reload the list") }
      letters.append(letter)
    }
    return (letters, 0)
  }

  private func decide(_ query: FormFields, _ page: PageContext) async throws -> Response {
    guard page.visitor.mayAct else { throw Denial.readOnly }
    guard let decision = Decision(rawValue: query["do"]) else { throw Denial.notFound }
    let (chosen, rest) = try await chosen(query)
    let letters = chosen.filter(\.isOpen)
    guard !letters.isEmpty else { throw Denial.malformed("no open dead letter was chosen") }
    return Answers.page(
      DecisionView(
        decision: decision, letters: letters, rest: rest, token: policy.tokens.token(for: page.visitor.name),
        now: clock.wallTime, context: page
      ).page)
  }

  private func act(_ path: [String], _ request: Request, _ page: PageContext) async throws -> Response {
    if path.count == 2, path[0] == "runs" { return try await control(path[1], request, page) }
    guard path.count == 2, path[0] == "dead-letters", let decision = Decision(rawValue: path[1]) else {
      throw Denial.notFound
    }
    let fields = try await form(request)
    try policy.check(request.head, token: fields["token"], of: page.visitor)
    let why = fields["why"]
    guard !why.isEmpty, why.utf8.count <= 2_000 else { throw Denial.malformed("say why, in at most 500 characters") }
    let letters = try await chosen(fields).letters
    guard !letters.isEmpty else { throw Denial.malformed("no dead letter was chosen") }
    let desk = DeadLetterDesk(log: try await log(), prefix: topics.prefix, clock: clock, patience: patience)
    let outcomes = try await desk.settle(decision, letters.map(\.key), why: why, by: page.visitor.name)
    logger.info(
      "dead letters settled",
      metadata: [
        "action": "\(decision.rawValue)", "count": "\(letters.count)", "user": "\(page.visitor.name)",
      ])
    return Answers.page(DecisionOutcomeView(decision: decision, outcomes: outcomes, context: page).page)
  }

  private func control(_ id: String, _ request: Request, _ page: PageContext) async throws -> Response {
    let fields = try await form(request)
    try policy.check(request.head, token: fields["token"], of: page.visitor)
    guard let run = await store.run(id) else { throw Denial.notFound }
    guard let wish = RunVerb(rawValue: fields["wish"]) else { throw Denial.malformed("a wish that is none") }
    let desk = RunDesk(log: try await log(), prefix: topics.prefix, clock: clock, real: real, user: page.visitor.name)
    switch run.kind {
    case .replay: try await desk.wish(wish, forReplay: id)
    case .backfill:
      guard let run = await store.backfill(id) else { throw Denial.notFound }
      try await desk.wish(wish, for: run)
    }
    logger.info(
      "a run was controlled",
      metadata: ["run": "\(id)", "wish": "\(wish.rawValue)", "user": "\(page.visitor.name)"])
    return try await self.run(id, page, asked: wish)
  }

  private func form(_ request: Request) async throws -> FormFields {
    guard request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") ?? false else {
      throw Denial.malformed("a form is sent as application/x-www-form-urlencoded")
    }
    do {
      return FormFields(String(buffer: try await request.body.collect(upTo: Self.largestForm)))
    } catch is NIOTooManyBytesError {
      throw Denial.tooLarge
    }
  }
}

extension Denial {
  var status: HTTPResponse.Status {
    switch self {
    case .noUser, .foreignHost, .readOnly, .foreignForm: .forbidden
    case .notFound: .notFound
    case .wrongMethod: .methodNotAllowed
    case .tooLarge: .contentTooLarge
    case .malformed: .badRequest
    }
  }

  fileprivate func page(_ context: PageContext) -> HTML {
    let (title, words) = text
    return Layout.problem(title, "\(words)", context)
  }

  var text: (title: String, words: String) {
    switch self {
    case .noUser(let header):
      ("Nobody is named", "This page stands behind a proxy that names the user in \(header). Come through it.")
    case .foreignHost: ("Not here", "Ask for this page by localhost or 127.0.0.1.")
    case .readOnly: ("Read-only", "This console was started without --allow-actions: it shows and does nothing.")
    case .foreignForm:
      (
        "The form is not ours",
        "It was opened before the console was started, too long ago, or elsewhere. Open it again."
      )
    case .notFound: ("Not found", "There is nothing here.")
    case .wrongMethod: ("Not so", "Pages are read with GET; forms are posted.")
    case .tooLarge: ("Too large", "A form has at most \(ConsoleResponder.largestForm / 1024) KiB.")
    case .malformed(let what): ("That makes no sense", "The request cannot be carried out: \(what).")
    }
  }
}

extension Answers {
  /// The answer to somebody whom nobody named.
  static func refused(_ refusal: Denial) -> Response {
    Response(
      status: refusal.status, headers: headers("text/plain; charset=utf-8"),
      body: ResponseBody(byteBuffer: ByteBuffer(string: refusal.text.words + "\n")))
  }
}
