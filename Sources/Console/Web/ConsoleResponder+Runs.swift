// The answers about runs: the page of one, what became of its records, and its controls.

internal import Hummingbird
internal import KafkaClient
internal import Logging
internal import MillraceRecords
internal import MillraceTime
internal import MillraceWorker
internal import Operations

extension ConsoleResponder {
  func run(_ id: String, _ page: PageContext, asked: RunVerb? = nil) async throws -> Response {
    guard let run = await store.run(id) else { throw Denial.notFound }
    // After an action, the page answers at once.
    let counts = asked == nil ? try await counts(of: run) : nil
    return Answers.page(
      RunView(
        run: run, counts: counts, token: policy.tokens.token(for: page.visitor.name), now: clock.wallTime,
        context: page,
        asked: asked
      ).page)
  }

  /// Reads what became of a run's records. The page shows the rest without it.
  private func counts(of run: RunSummary) async throws -> RunCounts {
    let command = "millrace replay status \(run.id)"
    let admission: Admission
    do {
      admission = try await self.admission()
    } catch Denial.busy {
      return .unknown("Too many pages are reading from Kafka. Reload the page.")
    }
    let (replay, line) = await (store.replay(run.id), store.action(run.id))
    do {
      let found = try await real.result(within: Self.lookupLimit) { [log, topics, clock, real] in
        defer { admission.end() }
        let operation = ReplayOperation(
          on: try await log(), prefix: topics.prefix, author: "", clock: real, recordClock: clock)
        if let replay { return RunCounts.known(try await operation.status(of: replay).counts) }
        guard let entry = line?.entry else { return .known([]) }
        let status = try await operation.status(of: entry, among: topics.readers, limit: RunCounts.limit)
        return status.map { .known($0.counts) }
          ?? .unknown("There are more than \(Words.count(RunCounts.limit)) records. Use the command line: \(command)")
      }
      return found
        ?? .unknown(
          "They could not be counted within \(Words.span(Self.lookupLimit)). Use the command line: \(command)")
    } catch let error as CancellationError {
      throw error
    } catch {
      logger.warning("could not count the records of a run", metadata: ["run": "\(run.id)", "error": "\(error)"])
      return .unknown("They could not be counted: \(error). Use the command line: \(command)")
    }
  }

  func control(_ id: String, _ request: Request, _ page: PageContext) async throws -> Response {
    try policy.check(request.head, of: page.visitor)
    let fields = try await form(request)
    try policy.check(request.head, token: fields["token"], of: page.visitor)
    guard let run = await store.run(id) else { throw Denial.notFound }
    guard let verb = RunVerb(rawValue: fields["verb"]) else { throw Denial.malformed("the action is unknown") }
    let admission = try await admission()
    defer { admission.end() }
    let service = RunService(
      log: try await log(), prefix: topics.prefix, clock: clock, real: real, user: page.visitor.name)
    switch run.kind {
    case .replay: try await service.control(verb, ofReplay: id)
    case .backfill:
      guard let run = await store.backfill(id) else { throw Denial.notFound }
      try await service.control(verb, of: run)
    case .action: throw Denial.malformed("this run cannot be controlled")
    }
    logger.info(
      "control command sent to a run",
      metadata: ["run": "\(id)", "verb": "\(verb.rawValue)", "user": "\(page.visitor.name)"])
    return try await self.run(id, page, asked: verb)
  }
}
