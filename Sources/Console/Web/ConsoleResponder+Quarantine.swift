// The answers about the quarantine. Each reads the newest part of the topic, because its bodies are not kept in memory.

internal import AppStore
internal import Hummingbird
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime
internal import Operations

extension ConsoleResponder {
  func quarantine(_ query: FormFields, _ page: PageContext) async throws -> Response {
    let inventory = try await lookUp("read the quarantine") { try await $0.inventory() }
    let listing = QuarantineListing(
      inventory, QuarantineQuery(query), from: max(0, Int(query["from"]) ?? 0), count: QuarantineListView.pageSize,
      now: clock.wallTime)
    return Answers.page(QuarantineListView(listing: listing, context: page).page)
  }

  func quarantined(_ id: String, _ page: PageContext) async throws -> Response {
    let found = try await lookUp("read the quarantined body") { service in
      let inventory = try await service.inventory()
      guard let entry = inventory[id], let record = try await service.record(id) else { throw Denial.notFound }
      return (entry, record)
    }
    return Answers.page(
      QuarantineBodyView(
        entry: found.0, record: found.1, payload: showsPayloads ? Payload.text(found.1) : nil, now: clock.wallTime,
        context: page
      ).page)
  }

  func confirmResubmission(_ query: FormFields, _ page: PageContext) async throws -> Response {
    guard page.visitor.mayAct else { throw Denial.readOnly }
    let items = try Self.items(query)
    let inventory = try await lookUp("read the quarantine") { try await $0.inventory() }
    var (entries, rest): ([QuarantineEntry], Int) = ([], 0)
    if query["all"].isEmpty {
      for id in items {
        guard let entry = inventory[id] else {
          throw Denial.malformed("a selected body is no longer in the quarantine; reload the list")
        }
        entries.append(entry)
      }
    } else {
      let all = QuarantineListing.matching(inventory, QuarantineQuery(query))
      (entries, rest) = (Array(all.prefix(QuarantineService.limit)), max(0, all.count - QuarantineService.limit))
    }
    guard !entries.isEmpty else { throw Denial.malformed("no body is selected") }
    return Answers.page(
      ResubmissionView(
        entries: entries, rest: rest, token: policy.tokens.token(for: page.visitor.name), now: clock.wallTime,
        context: page
      ).page)
  }

  func resubmit(_ request: Request, _ page: PageContext) async throws -> Response {
    try policy.check(request.head, of: page.visitor)
    let fields = try await form(request)
    try policy.check(request.head, token: fields["token"], of: page.visitor)
    let why = try Self.why(fields)
    let ids = Set(try Self.items(fields))
    guard !ids.isEmpty else { throw Denial.malformed("no body is selected") }
    guard let quarantineService else { throw Denial.notFound }
    let admission = try await admission()
    defer { admission.end() }
    let outcomes = try await quarantineService.resubmit(ids, why: why, by: page.visitor.name)
    logger.info(
      "quarantined bodies resubmitted", metadata: ["count": "\(ids.count)", "user": "\(page.visitor.name)"])
    return Answers.page(ResubmissionOutcomeView(outcomes: outcomes, context: page).page)
  }

  /// Returns the selected IDs.
  private static func items(_ fields: FormFields) throws(Denial) -> [String] {
    let items = fields.all("item")
    guard items.count <= QuarantineService.limit else {
      throw .malformed("more than \(QuarantineService.limit) bodies are selected")
    }
    guard items.allSatisfy({ $0.utf8.count == 64 && $0.utf8.allSatisfy { Hex.value($0) != nil } }) else {
      throw .malformed("an ID is not the SHA-256 of a body")
    }
    return items
  }

  private func lookUp<Value: Sendable>(
    _ what: String, _ work: @escaping @Sendable (QuarantineService) async throws -> Value
  ) async throws -> Value {
    guard let quarantineService else { throw Denial.notFound }
    return try await lookUp(what) { try await work(quarantineService) }
  }
}
