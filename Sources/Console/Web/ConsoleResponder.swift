// The HTTP handler of the console: it identifies the user, routes the request and renders a view. Pages are read with
// GET; actions need POST with a form of this console.

internal import AppStore
internal import MillraceTime
internal import HTTPTypes
internal import Hummingbird
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceWorker
internal import NIOCore
internal import Operations
internal import ServiceLifecycle

struct ConsoleResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  let policy: AccessPolicy
  let store: ConsoleStore
  let topics: ConsoleTopics
  let settings: ConsoleSettings
  let showsPayloads: Bool
  /// Connects to Kafka. Called for each use, so that the console recovers if the cluster was unavailable at first.
  let log: @Sendable () async throws -> any RecordLog
  /// The workers' clock, which may run faster in a rehearsal.
  let clock: MillraceClock
  /// Real time, for record timestamps and live updates.
  var real = MillraceClock.system
  /// Asks Apple about transactions and orders; nil if no app has credentials.
  var apple: CustomerSearch.Question?
  /// The quarantine; nil if the deployment has none.
  var quarantineService: QuarantineService?
  /// Returns when a customer was erased, by key.
  var erasure: @Sendable (String) async throws -> Timestamp? = { _ in nil }
  /// How long an action waits for the results from the workers.
  var patience = Duration.seconds(5)
  let logger: Logger
  /// Limits live pages. Each is rendered once a second.
  let livePages = AdmissionQuota(limit: 64)
  /// Limits the requests that read topics or wait for workers. Each has its own clients of Kafka, for a moment or for
  /// minutes.
  let scans = AdmissionQuota(limit: 4, queue: 12)
  /// Runs the requests that read topics, and those with a form. Both can take seconds of computing.
  let scanning = ScanExecutor()

  /// How long a request waits for a place among ``scans``.
  static let scanPatience = Duration.seconds(3)
  /// The value of `Retry-After`, in seconds, if a limit is reached.
  static let retryAfterSeconds = 5
  /// The time limit for looking up a record.
  static let lookupLimit = Duration.seconds(20)
  static let largestForm = 256 << 10

  func respond(to request: Request, context: Context) async throws -> Response {
    let page: PageContext
    do throws(Denial) {
      page = PageContext(
        visitor: try policy.visitor(request.head), allowsActions: policy.allowsActions, showsPayloads: showsPayloads)
    } catch {
      // An unidentified client learns nothing about the console, not even its name.
      return Answers.refused(error)
    }
    return try await response(to: request, page) { try await answer(request, page) }
  }

  /// Returns a response, also if `work` fails.
  /// - Throws: `CancellationError`: the client has disconnected.
  private func response(
    to request: Request, _ page: PageContext, _ work: () async throws -> Response
  ) async throws -> Response {
    do {
      return try await work()
    } catch let refusal as Denial {
      var answer = Answers.page(refusal.page(page), status: refusal.status)
      if case .busy = refusal { answer.headers[.retryAfter] = "\(Self.retryAfterSeconds)" }
      return answer
    } catch let error as CancellationError {
      throw error
    } catch {
      logger.warning("could not serve a page", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
      return Answers.page(
        Layout.problem("Request failed", "\(FailureReport(error).lines.joined(separator: " "))", page),
        status: .serviceUnavailable)
    }
  }

  private func answer(_ request: Request, _ page: PageContext) async throws -> Response {
    let path = request.uri.path.split(separator: "/").map(String.init)
    let query = FormFields(request.uri.query ?? "")
    if request.method == .post {
      return try await withTaskExecutorPreference(scanning) { try await act(path, request, page) }
    }
    guard request.method == .get else { throw Denial.wrongMethod }
    let origin = policy.origin(of: request.head)
    // Another site may link here, but it may not load anything from the console into its own pages.
    guard origin != .foreignLoad else { throw Denial.foreignLoad }
    switch path {
    case []: return Answers.page(OverviewView(state: await store.overview(), context: page).page)
    case ["console.css"]: return Answers.file(PackageResources.console_css, type: "text/css; charset=utf-8")
    case ["console.js"]: return Answers.file(PackageResources.console_js, type: "text/javascript; charset=utf-8")
    case ["console.svg"]: return Answers.file(PackageResources.console_svg, type: "image/svg+xml")
    case ["live"]: return live(request, page)
    case ["dead-letters"]: return await list(query, page)
    case ["dead-letters", "decide"]: return try await decide(query, page)
    case ["timeline"]: return try await timeline(query, request, page, origin)
    case let path where path.first == "webhooks":
      return try await reading(for: request, page) { try await webhook(Array(path.dropFirst()), page) }
    case ["quarantine"]: return try await reading(for: request, page) { try await quarantine(query, page) }
    case ["quarantine", "resubmit"]:
      return try await reading(for: request, page) { try await confirmResubmission(query, page) }
    case let path where path.count == 2 && path[0] == "quarantine":
      return try await reading(for: request, page) { try await quarantined(path[1], page) }
    case let path where path.count == 2 && path[0] == "runs":
      return try await reading(for: request, page) { try await run(path[1], page) }
    default:
      guard path.count == 4, path[0] == "dead-letters", let id = try? DeadLetterID("\(path[2])/\(path[3])") else {
        throw Denial.notFound
      }
      return try await reading(for: request, page) { try await deadLetter(.init(worker: path[1], id: id), page) }
    }
  }

  /// Returns a response for which topics are read, and ends the reading if the client disconnects.
  func reading(
    for request: Request, _ page: PageContext, _ work: @Sendable () async throws -> Response
  ) async throws -> Response {
    try await Answers.whileConnected(request) {
      try await withTaskExecutorPreference(scanning) { try await response(to: request, page, work) }
    }
  }

  /// Waits for a place among the requests that read topics.
  func admission() async throws -> Admission {
    guard let admission = try await scans.admit(within: Self.scanPatience, by: real) else { throw Denial.busy }
    return admission
  }

  // MARK: - Reading

  private func list(_ query: FormFields, _ page: PageContext) async -> Response {
    let start = max(0, Int(query["from"]) ?? 0)
    let listing = await store.deadLetters(
      DeadLetterQuery(query), from: start, count: DeadLetterListView.pageSize)
    return Answers.page(DeadLetterListView(listing: listing, context: page).page)
  }

  private func deadLetter(_ key: DeadLetterKey, _ page: PageContext) async throws -> Response {
    guard topics.workers.contains(key.worker) else { throw Denial.notFound }
    let (isKept, status) = await (store.deadLetter(key) != nil, store.status(of: key))
    guard let record = try await lookUp(key),
      var entry = DeadLetterEntry(record, of: key.worker, status: status)
    else { throw Denial.notFound }
    // Records that are not read yet may change the state.
    if await !store.isCaughtUp, !isKept, status == nil { entry.state = "state not known yet" }
    return Answers.page(
      DeadLetterView(
        entry: entry, record: RecordView(record), isKept: isKept, payload: showsPayloads ? Payload.text(record) : nil,
        now: clock.wallTime, context: page
      ).page)
  }

  private func lookUp(_ key: DeadLetterKey) async throws -> ConsumerRecord? {
    try await lookUp("read the dead letter \(key.id) of \(key.worker)") { [log, prefix = topics.prefix] in
      let worker = try WorkerOperations(worker: key.worker, prefix: prefix, on: try await log(), author: "")
      return try await worker.record(of: key.id)
    }
  }

  /// Reads from Kafka within a time limit.
  /// - Throws: ``Denial`` if too many pages read; `KafkaError` if the time limit passes.
  func lookUp<Value: Sendable>(
    _ what: String, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let admission = try await admission()
    let found = try await real.result(within: Self.lookupLimit) {
      // A lookup that ignores its time limit keeps its place in the quota until it ends.
      defer { admission.end() }
      return try await work()
    }
    guard let found else {
      throw KafkaError(
        code: .timedOut, operation: what, reason: "no answer within \(DurationText.text(Self.lookupLimit))",
        isRetriable: true)
    }
    return found
  }

  private func live(_ request: Request, _ page: PageContext) -> Response {
    let updates = LiveUpdates(clock: real, quota: livePages) { [store] in
      OverviewView(state: await store.overview(), context: page).sections
    }
    return Answers.stream("text/event-stream", of: request) { writer in try await updates.write(to: &writer) }
  }

  private func timeline(
    _ query: FormFields, _ request: Request, _ page: PageContext, _ origin: RequestOrigin
  ) async throws -> Response {
    let usual = Int(settings.timelineHorizon.components.seconds / 86_400)
    let days = min(max(1, Int(query["days"]) ?? usual), 3_650)
    let view = TimelineView(subject: query["id"], days: days, context: page)
    guard !view.subject.isEmpty else { return Answers.page(view.question) }
    guard view.subject.utf8.count <= 256 else { throw Denial.malformed("the id is longer than 256 bytes") }
    // Reading starts only after a click in this console or a typed address. Links from other sites show the form,
    // filled in.
    guard origin == .console || origin == .user else { return Answers.page(view.question) }
    let id: String
    do throws(OperationError) { id = try CustomerSearch.id(view.subject) } catch {
      throw Denial.malformed("this is \(error.what)")
    }
    let admission = try await admission()
    let since = real.wallTime - .seconds(Int64(days) * 86_400)
    return Answers.stream("text/html; charset=utf-8", of: request) { [self] writer in
      defer { admission.end() }
      try await withTaskExecutorPreference(scanning) { try await write(view, of: id, since: since, to: &writer) }
    }
  }

  /// Writes a timeline as it is read.
  private func write(
    _ view: TimelineView, of id: String, since: Timestamp, to writer: inout any ResponseBodyWriter
  ) async throws {
    try await writer.write(view.beginning.text)
    var (shown, scanned, hasBegun) = (0, Int64(0), false)
    do {
      let log = try await log()
      let search = CustomerSearch(in: log, prefix: topics.prefix, apple: apple)
      let customer = try await search.find(id) ?? .init(keys: [id], finding: .absent)
      guard let key = customer.keys.first, customer.keys.count == 1 else {
        return try await writer.write(view.choice(customer.keys, relation: customer.relation).text)
      }
      let state = CustomerState(
        key: key, row: try await search.row(of: key), erasedAt: try await erasure(key), finding: customer.finding,
        quarantined: try await search.quarantined(claiming: [key]))
      try await writer.write(view.start(state, relation: customer.relation, now: clock.wallTime).text)
      hasBegun = true
      let builder = TimelineBuilder(topics: topics, subject: key, showsPayloads: showsPayloads)
      let reader = TimelineReader(log: log, builder: builder) { [store] in await store.deadLetter($0)?.state }
      let isWhole = try await reader.follow(since: since) { news in
        if Task.isShuttingDownGracefully { throw CancellationError() }
        switch news {
        case .entry(let entry):
          shown += 1
          try await writer.write(view.line(entry).text)
        case .progress(let count, let left):
          scanned = count
          // Writing also detects a closed connection while no entries are found.
          try await writer.write(view.progress(count, left).text)
        }
      }
      try await writer.write(view.end(shown: shown, scanned: scanned, isWhole: isWhole).text)
    } catch let error as CancellationError {
      throw error
    } catch {
      // Errors of the connection to the browser cannot be shown; writing fails again.
      logger.warning("could not read a timeline", metadata: ["error": "\(error)"])
      let words = FailureReport(error).lines.joined(separator: " ")
      try await writer.write(view.broken(words, inList: hasBegun).text)
    }
  }

  // MARK: - Acting

  /// Returns the dead letters that a form selects, and the number of matches beyond the limit.
  private func chosen(_ fields: FormFields) async throws(Denial) -> (letters: [DeadLetterEntry], rest: Int) {
    if !fields["all"].isEmpty {
      var query = DeadLetterQuery(fields)
      query.status = .open
      let page = await store.deadLetters(query, from: 0, count: DeadLetterService.limit).page
      return (page.letters, page.count - page.letters.count)
    }
    var letters: [DeadLetterEntry] = []
    let items = fields.all("item")
    guard items.count <= DeadLetterService.limit else {
      throw .malformed("more than \(DeadLetterService.limit) dead letters are selected")
    }
    for item in items {
      let parts = item.split(separator: "/", maxSplits: 1).map(String.init)
      guard parts.count == 2, let id = try? DeadLetterID(parts[1]),
        let letter = await store.deadLetter(.init(worker: parts[0], id: id))
      else { throw .malformed("a selected dead letter is no longer in the list; reload the list") }
      letters.append(letter)
    }
    return (letters, 0)
  }

  private func decide(_ query: FormFields, _ page: PageContext) async throws -> Response {
    guard page.visitor.mayAct else { throw Denial.readOnly }
    guard let decision = OperationReport.Action(decision: query["do"]) else { throw Denial.notFound }
    let (chosen, rest) = try await chosen(query)
    let letters = chosen.filter(\.isOpen)
    guard !letters.isEmpty else { throw Denial.malformed("no open dead letter is selected") }
    return Answers.page(
      DecisionView(
        decision: decision, letters: letters, rest: rest, token: policy.tokens.token(for: page.visitor.name),
        now: clock.wallTime, context: page
      ).page)
  }

  private func act(_ path: [String], _ request: Request, _ page: PageContext) async throws -> Response {
    if path.count == 2, path[0] == "runs" { return try await control(path[1], request, page) }
    if path.count == 5, path[0] == "webhooks" { return try await resend(Array(path.dropFirst()), request, page) }
    if path == ["quarantine", "resubmit"] { return try await resubmit(request, page) }
    guard path.count == 2, path[0] == "dead-letters", let decision = OperationReport.Action(decision: path[1]) else {
      throw Denial.notFound
    }
    try policy.check(request.head, of: page.visitor)
    let fields = try await form(request)
    try policy.check(request.head, token: fields["token"], of: page.visitor)
    let why = try Self.why(fields)
    let letters = try await chosen(fields).letters
    guard !letters.isEmpty else { throw Denial.malformed("no dead letter is selected") }
    let admission = try await admission()
    defer { admission.end() }
    let service = DeadLetterService(log: try await log(), prefix: topics.prefix, clock: clock, patience: patience)
    let outcomes = try await service.settle(decision, letters.map(\.key), why: why, by: page.visitor.name)
    logger.info(
      "dead letters requeued or discarded",
      metadata: [
        "action": "\(decision.rawValue)", "count": "\(letters.count)", "user": "\(page.visitor.name)",
      ])
    return Answers.page(DecisionOutcomeView(decision: decision, outcomes: outcomes, context: page).page)
  }

  /// Returns the operator's reason.
  static func why(_ fields: FormFields) throws(Denial) -> String {
    let why = fields["why"]
    guard !why.isEmpty, why.utf8.count <= 2_000 else {
      throw .malformed("the reason is missing or longer than 500 characters")
    }
    return why
  }

  func form(_ request: Request) async throws -> FormFields {
    guard request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") ?? false else {
      throw Denial.malformed("the content type is not application/x-www-form-urlencoded")
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
    case .noUser, .foreignHost, .readOnly, .foreignForm, .foreignLoad: .forbidden
    case .busy: .serviceUnavailable
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
      ("No user name", "The request does not name one user in \(header). Open this page through the proxy.")
    case .foreignHost: ("Wrong host", "Open this page at localhost or 127.0.0.1.")
    case .readOnly: ("Read-only", "This console was started without --allow-actions, so it is read-only.")
    case .foreignForm:
      (
        "Form not accepted",
        "The form was opened too long ago, before the console started, or on another site. Open the page again."
      )
    case .foreignLoad: ("Request from another site", "A page of another site requested this. Open it in its own tab.")
    case .busy:
      (
        "Busy",
        "Too many pages are reading from Kafka. Try again in \(ConsoleResponder.retryAfterSeconds) seconds."
      )
    case .notFound: ("Not found", "This page does not exist.")
    case .wrongMethod: ("Method not allowed", "Use GET for pages and POST for forms.")
    case .tooLarge: ("Too large", "A form can have at most \(ConsoleResponder.largestForm / 1024) KiB.")
    case .malformed(let what): ("Invalid request", "The request is invalid: \(what).")
    }
  }
}

extension Answers {
  /// The response to an unidentified client.
  static func refused(_ refusal: Denial) -> Response {
    Response(
      status: refusal.status, headers: headers("text/plain; charset=utf-8"),
      body: ResponseBody(byteBuffer: ByteBuffer(string: refusal.text.words + "\n")))
  }
}
