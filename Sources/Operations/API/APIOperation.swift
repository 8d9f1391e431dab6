// What `millrace api` does: one question to Apple each, and the answer as people or scripts want it.

public import AppStore
public import AppStoreServerAPI
public import Clocks

/// Asks Apple, and prints what it says.
public struct APIOperation: Sendable {
  private let client: AppStoreServerClient
  private let environment: AppStoreEnvironment?
  private let clock: MillraceClock
  private let out: Output
  private let asJSON: Bool
  private let note: @Sendable (String) -> Void

  /// Questions about one app.
  ///
  /// - Parameters:
  ///   - environment: where to ask; nil: in production first, then in the sandbox.
  ///   - asJSON: payloads as Apple signed them, one object a line.
  ///   - note: takes what is for people beside the result.
  public init(
    _ client: AppStoreServerClient, in environment: AppStoreEnvironment?, clock: MillraceClock, to out: Output,
    asJSON: Bool, note: @escaping @Sendable (String) -> Void
  ) {
    self.client = client
    self.environment = environment
    self.clock = clock
    self.out = out
    self.asJSON = asJSON
    self.note = note
  }

  /// `api transaction`
  public func transaction(_ id: String) async throws -> CommandStatus {
    let transaction = try await client.getTransactionInfo(id, in: environment).value.payload
    try show(transaction.json, .transaction(transaction, at: clock.wallTime))
    return .success
  }

  /// `api app-transaction`
  public func appTransaction(_ id: String) async throws -> CommandStatus {
    let transaction = try await client.getAppTransactionInfo(id, in: environment).value.payload
    try show(transaction.json, .appTransaction(transaction))
    return .success
  }

  /// `api history`
  ///
  /// - Parameter limit: how many transactions at most; nil for all.
  public func history(
    _ id: String, _ request: TransactionHistoryRequest, limit: Int?
  ) async throws -> CommandStatus {
    try await list(.purchases, client.getTransactionHistory(id, request, in: environment), limit: limit)
  }

  /// `api refunds`
  ///
  /// - Parameter limit: how many transactions at most; nil for all.
  public func refunds(_ id: String, limit: Int?) async throws -> CommandStatus {
    try await list(.refunds, client.getRefundHistory(id, in: environment), limit: limit)
  }

  /// `api statuses`
  public func statuses(_ id: String, _ statuses: [Status]) async throws -> CommandStatus {
    let answer = try await client.getAllSubscriptionStatuses(
      id, SubscriptionStatusesRequest(statuses: statuses), in: environment)
    let groups = answer.value
    if asJSON {
      try out.lines(StatusTable.jsonLines(groups, in: answer.environment))
    } else {
      try out.lines(StatusTable.lines(groups, lineWidth: out.width, usesColor: out.usesColor))
    }
    tell(groups.map(\.subscriptions.count).reduce(0, +), "subscription", in: answer.environment)
    return .success
  }

  /// `api order`
  ///
  /// - Throws: ``OperationError`` where the sandbox is asked for: Apple offers this in production only.
  public func order(_ id: String) async throws -> CommandStatus {
    if environment == .sandbox {
      throw OperationError(
        .usage, "Apple looks up orders in production only", at: "--environment", remedy: "leave it out")
    }
    let order = try await client.lookUpOrderId(id).value
    guard order.status == .valid else {
      note("Apple knows no order of this app with this id.")
      return .failure
    }
    var printer = TransactionPrinter(.purchases, to: out, asJSON: asJSON, at: clock.wallTime)
    try printer.print(order.transactions.map(\.payload))
    tell(printer.count, "transaction", in: .production)
    return .success
  }

  private func list(
    _ kind: TransactionPrinter.Kind, _ pages: APIPages<TransactionPage>, limit: Int?
  ) async throws -> CommandStatus {
    var printer = TransactionPrinter(kind, to: out, asJSON: asJSON, at: clock.wallTime)
    var last: AppStoreEnvironment?
    for try await page in pages {
      last = page.environment
      let wanted = limit ?? .max
      try printer.print(page.value.items.prefix(wanted - printer.count).map(\.payload))
      if printer.count == limit { break }
    }
    if let last { tell(printer.count, kind == .refunds ? "refund" : "transaction", in: last) }
    return .success
  }

  private func show(_ json: JSONObject, _ sheet: FactSheet) throws(OperationError) {
    if asJSON {
      try out.line(String(decoding: json.serialized(), as: UTF8.self))
    } else {
      try out.lines(sheet.lines(usesColor: out.usesColor))
    }
  }

  /// Scripts count lines; but no line at all would leave open whether Apple was asked.
  private func tell(_ count: Int, _ noun: String, in environment: AppStoreEnvironment) {
    if !asJSON || count == 0 { note("\(HumanText.count(count, noun)) in \(environment)") }
  }
}
