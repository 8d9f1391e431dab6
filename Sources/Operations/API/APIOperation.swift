// Implements `millrace api`: asks Apple one question and prints the answer for people or for scripts.

package import AppStore
package import AppStoreServerAPI
package import MillraceTime

/// Calls the App Store Server API and prints the result.
package struct APIOperation: Sendable {
  private let client: AppStoreServerClient
  private let environment: AppStoreEnvironment?
  private let clock: MillraceClock
  private let out: Output
  private let asJSON: Bool
  private let note: @Sendable (String) -> Void

  /// The pauses before repeating a failed request for a page.
  static let pauses: [Duration] = [.seconds(1), .seconds(2)]

  /// Creates an operation for one app.
  ///
  /// - Parameters:
  ///   - environment: The environment to ask; nil: production first, then the sandbox.
  ///   - asJSON: Prints payloads as Apple signed them, one JSON object per line.
  ///   - note: Receives messages for people that are not part of the result.
  package init(
    _ client: AppStoreServerClient, in environment: AppStoreEnvironment?, clock: MillraceClock, to out: Output,
    asJSON: Bool, note: @escaping @Sendable (String) -> Void
  ) {
    self.client = client.askingSandboxBeforeRelease(note)
    self.environment = environment
    self.clock = clock
    self.out = out
    self.asJSON = asJSON
    self.note = note
  }

  /// `api transaction`
  package func transaction(_ id: String) async throws -> CommandStatus {
    let transaction = try await client.getTransactionInfo(id, in: environment).value.payload
    try show(transaction.json, .transaction(transaction, at: clock.wallTime))
    return .success
  }

  /// `api app-transaction`
  package func appTransaction(_ id: String) async throws -> CommandStatus {
    let transaction = try await client.getAppTransactionInfo(id, in: environment).value.payload
    try show(transaction.json, .appTransaction(transaction))
    return .success
  }

  /// `api history`
  ///
  /// - Parameter limit: The maximum number of transactions; nil for all.
  package func history(
    _ id: String, _ request: TransactionHistoryRequest, limit: Int?
  ) async throws -> CommandStatus {
    try await list(.purchases, client.getTransactionHistory(id, request, in: environment), limit: limit)
  }

  /// `api refunds`
  ///
  /// - Parameter limit: The maximum number of transactions; nil for all.
  package func refunds(_ id: String, limit: Int?) async throws -> CommandStatus {
    try await list(.refunds, client.getRefundHistory(id, in: environment), limit: limit)
  }

  /// `api statuses`
  package func statuses(_ id: String, _ statuses: [Status]) async throws -> CommandStatus {
    let answer = try await client.getAllSubscriptionStatuses(
      id, SubscriptionStatusesRequest(statuses: statuses), in: environment)
    let groups = answer.value
    note(skipped: answer.skipped)
    if asJSON {
      try out.lines(StatusTable.jsonLines(groups, in: answer.environment))
    } else {
      try out.lines(StatusTable.lines(groups, lineWidth: out.width, usesColor: out.usesColor))
    }
    report(groups.map(\.subscriptions.count).reduce(0, +), "subscription", in: answer.environment)
    return .success
  }

  /// `api order`
  ///
  /// - Throws: ``OperationError`` if the environment is the sandbox: Apple offers this endpoint in production only.
  package func order(_ id: String) async throws -> CommandStatus {
    if environment == .sandbox {
      throw OperationError(
        .usage, "Apple looks up orders in production only", at: "--environment", remedy: "remove the flag")
    }
    let answer = try await client.lookUpOrderId(id)
    let order = answer.value
    note(skipped: answer.skipped)
    guard order.status == .valid else {
      note("Apple has no order with this ID for this app.")
      return .failure
    }
    var printer = TransactionPrinter(.purchases, to: out, asJSON: asJSON, at: clock.wallTime)
    try printer.print(order.transactions.map(\.payload))
    report(printer.count, "transaction", in: .production)
    return .success
  }

  private func list(
    _ kind: TransactionPrinter.Kind, _ pages: APIPages<TransactionPage>, limit: Int?
  ) async throws -> CommandStatus {
    var printer = TransactionPrinter(kind, to: out, asJSON: asJSON, at: clock.wallTime)
    var last: AppStoreEnvironment?
    var cursor: String?
    var iterator = pages.makeAsyncIterator()
    var failures = 0
    while printer.count != limit {
      let page: APIResponse<TransactionPage>?
      do throws(APIError) {
        page = try await iterator.next()
        failures = 0
      } catch {
        // Nothing is printed twice: the retry asks for the same page, with the cursor of the page before it.
        guard error.errorClass == .retryNow, error.kind != .cancelled, failures < Self.pauses.count else { throw error }
        note("\(error.what); retrying this page")
        try await clock.sleep(until: clock.now.advanced(by: Self.pauses[failures]))
        failures += 1
        iterator = pages.continued(after: cursor, in: last).makeAsyncIterator()
        continue
      }
      guard let page else { break }
      (last, cursor) = (page.environment, page.value.cursor)
      note(skipped: page.skipped)
      try printer.print(page.value.items.prefix((limit ?? .max) - printer.count).map(\.payload))
    }
    if let last { report(printer.count, kind == .refunds ? "refund" : "transaction", in: last) }
    return .success
  }

  private func note(skipped: [SkippedItem]) {
    for item in skipped { note("left out, because it is not as documented: \(item)") }
  }

  private func show(_ json: JSONObject, _ sheet: FactSheet) throws(OperationError) {
    if asJSON {
      try out.line(String(decoding: json.serialized(), as: UTF8.self))
    } else {
      try out.lines(sheet.lines(usesColor: out.usesColor))
    }
  }

  /// Scripts count lines, so they get no count, except for zero: no output at all could mean that nothing was asked.
  private func report(_ count: Int, _ noun: String, in environment: AppStoreEnvironment) {
    if !asJSON || count == 0 { note("\(HumanText.count(count, noun)) in \(environment)") }
  }
}
