// Asks Apple about customers' refunds, and publishes what no notification told. The worker decides what it means; this
// only finds.

internal import AppStore
public import AppStoreServerAPI
public import Clocks
internal import Kafka
public import Millrace

/// Asks *Get Refund History* about customers.
///
/// Each customer's page is published and acknowledged before the revision behind it is kept, so a run that ends half-way
/// asks again for that page at most, and what it published twice has one id. All calls wait for the client's budget.
public struct RefundCheck: Sendable {
  /// What becomes of one customer.
  public enum Report: Sendable, Hashable {
    /// A refund that no notification told; published.
    case published(transactionId: String, customer: RefundCustomer)
    /// Apple does not answer about this customer: the error in words.
    case failed(RefundCustomer, String)
  }

  /// What a run came to.
  public struct Summary: Sendable, Hashable {
    /// Customers Apple answered about.
    public var asked = 0
    /// Refunds it told of that were not asked for before.
    public var refunds = 0
    /// Those of them that notifications had told.
    public var told = 0
    /// Those that were published.
    public var published = 0
    /// Customers Apple did not answer about.
    public var failed = 0

    /// A run that came to this.
    public init(asked: Int = 0, refunds: Int = 0, told: Int = 0, published: Int = 0, failed: Int = 0) {
      self.asked = asked
      self.refunds = refunds
      self.told = told
      self.published = published
      self.failed = failed
    }
  }

  /// The longest wait for a turn inside a call; for one that is further away the check sleeps.
  private static let longestTurn = Duration.seconds(10)

  private let client: AppStoreServerClient
  private let log: any RecordLog
  private let prefix: String
  private let clock: MillraceClock

  /// A check of one app's customers.
  /// - Parameter prefix: Put before every topic's name.
  public init(_ client: AppStoreServerClient, on log: any RecordLog, prefix: String, clock: MillraceClock) {
    // A turn that comes just before the call's limit of time leaves the call none.
    self.client = client.waiting(TurnPatience(atMost: Self.longestTurn))
    self.log = log
    self.prefix = prefix
    self.clock = clock
  }

  /// Asks about each customer, one after the other.
  ///
  /// - Parameter report: Hears of each refund that was published and of each customer Apple does not answer about.
  /// - Throws: ``MillraceError`` where a topic is missing; ``APIError`` that is about all customers, such as refused
  ///   credentials; `KafkaError`; what `report` throws. What was done until then stays done.
  public func run(
    _ customers: [RefundCustomer], report: @escaping @Sendable (Report) throws -> Void
  ) async throws -> Summary {
    try await requireTopics()
    let told = try await ToldRefunds.load(from: log, prefix: prefix)
    let marks = try await RefundMarks.load(from: log, prefix: prefix)
    let writer = try log.makeWriter()
    return try await withThrowingTaskGroup(of: Summary?.self) { group in
      group.addTask {
        try await writer.run()
        return nil
      }
      group.addTask {
        defer { writer.shutDown() }
        var summary = Summary()
        for customer in customers {
          try Task.checkCancellation()
          try await check(customer, told: told, marks: marks, writer: writer, summary: &summary, report: report)
        }
        return summary
      }
      var summary = Summary()
      while let end = try await group.next() { summary = end ?? summary }
      return summary
    }
  }

  private func check(
    _ customer: RefundCustomer, told: ToldRefunds, marks: RefundMarks, writer: any LogWriter, summary: inout Summary,
    report: @Sendable (Report) throws -> Void
  ) async throws {
    var revision = marks.revision(of: customer)
    var isFirst = true
    while true {
      let page: TransactionPage
      switch await ask(about: customer, after: revision) {
      case .success(nil): return
      case .success(.some(let answer)): page = answer
      case .failure(let error):
        if error.waitsForItsTurn, let turn = error.retryAt {
          try await clock.sleep(until: clock.now.advanced(by: max(.zero, turn - clock.wallTime)))
          continue
        }
        if error.code == .invalidRequestRevision, isFirst, revision != nil {
          // Apple does not take the revision any more: from the beginning, most of it is known by now.
          revision = nil
          continue
        }
        guard error.isAboutTheQuestion else { throw error }
        summary.failed += 1
        return try report(.failed(customer, "\(error)"))
      }
      if isFirst { summary.asked += 1 }
      isFirst = false
      try await publish(page, of: customer, told: told, writer: writer, summary: &summary, report: report)
      if let next = page.revision, next != revision {
        // After what the page brought: that is in Kafka by now.
        _ = try await writer.send(RefundMarks.record(next, of: customer, at: clock.wallTime, prefix: prefix))
        revision = next
      }
      guard page.hasMore else { return }
    }
  }

  /// One page; an iteration that has not begun has at least one.
  private func ask(about customer: RefundCustomer, after revision: String?) async -> Result<TransactionPage?, APIError>
  {
    let pages = client.getRefundHistory(customer.transactionId, after: revision, in: customer.environment)
    var iterator = pages.makeAsyncIterator()
    do throws(APIError) {
      let page = try await iterator.next()
      return .success(page?.value)
    } catch {
      return .failure(error)
    }
  }

  private func publish(
    _ page: TransactionPage, of customer: RefundCustomer, told: ToldRefunds, writer: any LogWriter,
    summary: inout Summary, report: @Sendable (Report) throws -> Void
  ) async throws {
    for item in page.items {
      summary.refunds += 1
      let record = FoundRefundRecord(jws: item.jws, transaction: item.payload).producerRecord(prefix: prefix)
      guard let record, !told.contains(item.payload) else {
        summary.told += 1
        continue
      }
      _ = try await writer.send(record)
      summary.published += 1
      try report(.published(transactionId: item.payload.transactionId ?? "", customer: customer))
    }
  }

  private func requireTopics() async throws {
    let topics = [NotificationFamily.foundRefunds.topic, RefundsWorker.entitlementsTopic, RefundMarks.topic]
      .map { prefix + $0 }
    let counts = try await log.partitionCounts(of: topics, timeout: .seconds(15))
    let missing = topics.filter { counts[$0] == nil }
    guard missing.isEmpty else {
      throw MillraceError(
        .topics,
        missing.map { MillraceError.Problem("the topic is missing", at: $0, remedy: "run `millrace topics apply`") })
    }
  }
}

extension APIError {
  fileprivate var waitsForItsTurn: Bool {
    switch kind {
    case .budget, .rateLimited: true
    default: false
    }
  }
}
