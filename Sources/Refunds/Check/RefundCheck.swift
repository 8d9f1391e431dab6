// Asks Apple about customers' refunds and publishes those that no notification reported. The worker decides about their
// effects.

internal import AppStore
package import AppStoreServerAPI
package import MillraceTime
internal import KafkaClient
internal import MillraceCore
package import MillraceRecords

/// Reads *Get Refund History* for customers.
///
/// The check stores the revision of a page only after Kafka has acknowledged its refunds. A run that is interrupted
/// requests at most that page again, and refunds published twice have the same id. All calls wait for the client's rate
/// limit.
package struct RefundCheck: Sendable {
  /// A result for one customer.
  package enum Report: Sendable, Hashable {
    /// The check published a refund that no notification had reported.
    case published(transactionId: String, customer: RefundCustomer)
    /// An item of Apple's response is not as documented; the check left it out.
    case skipped(SkippedItem, RefundCustomer)
    /// The call for this customer failed, with a description of the error.
    case failed(RefundCustomer, String)
  }

  /// The counts of a run.
  package struct Summary: Sendable, Hashable {
    /// Customers whose history Apple returned.
    package var asked = 0
    /// Refunds in the history that no earlier run has read.
    package var refunds = 0
    /// Refunds among them that notifications had reported.
    package var reported = 0
    /// Refunds among them that the run published.
    package var published = 0
    /// Items of Apple's responses that are not as documented.
    package var skipped = 0
    /// Customers whose call failed.
    package var failed = 0

    /// Creates a summary.
    package init(
      asked: Int = 0, refunds: Int = 0, reported: Int = 0, published: Int = 0, skipped: Int = 0, failed: Int = 0
    ) {
      self.asked = asked
      self.refunds = refunds
      self.reported = reported
      self.published = published
      self.skipped = skipped
      self.failed = failed
    }
  }

  /// The longest wait for a rate-limit slot inside a call. For longer waits the check itself sleeps.
  private static let longestTurn = Duration.seconds(10)

  private let client: AppStoreServerClient
  private let log: any RecordLog
  private let prefix: String
  private let clock: MillraceClock
  private let run: String?

  /// Creates a check of one app's customers.
  /// - Parameters:
  ///   - prefix: The prefix of every topic's name.
  ///   - run: The run's ID in the audit trail, which the records of found refunds name.
  package init(
    _ client: AppStoreServerClient, on log: any RecordLog, prefix: String, clock: MillraceClock, run: String? = nil
  ) {
    // A slot just before the call's deadline would leave no time for the call.
    self.client = client.waiting(RateLimitWait(atMost: Self.longestTurn))
    self.log = log
    self.prefix = prefix
    self.clock = clock
    self.run = run
  }

  /// Checks customers one after the other.
  ///
  /// - Parameter report: Called for each published refund and for each customer whose call failed.
  /// - Throws: ``MillraceError`` if a topic is missing; ``APIError`` if the error concerns all customers, such as
  ///   rejected credentials; `KafkaError`; errors from `report`. Refunds published before the error remain published.
  package func run(
    _ customers: [RefundCustomer], report: @escaping @Sendable (Report) throws -> Void
  ) async throws -> Summary {
    try await requireTopics()
    let known = try await KnownRefunds.load(from: log, prefix: prefix)
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
          try await check(customer, known: known, marks: marks, writer: writer, summary: &summary, report: report)
        }
        return summary
      }
      var summary = Summary()
      while let end = try await group.next() { summary = end ?? summary }
      return summary
    }
  }

  private func check(
    _ customer: RefundCustomer, known: KnownRefunds, marks: RefundMarks, writer: any LogWriter, summary: inout Summary,
    report: @Sendable (Report) throws -> Void
  ) async throws {
    var revision = marks.revision(of: customer)
    var isFirst = true
    while true {
      let answer: APIResponse<TransactionPage>
      switch await ask(about: customer, after: revision) {
      case .success(nil): return
      case .success(.some(let page)): answer = page
      case .failure(let error):
        if error.waitsForItsTurn, let turn = error.retryAt {
          try await clock.sleep(until: clock.now.advanced(by: max(.zero, turn - clock.wallTime)))
          continue
        }
        if error.code == .invalidRequestRevision, isFirst, revision != nil {
          // Apple no longer accepts the revision. Start from the beginning; most refunds are already known.
          revision = nil
          continue
        }
        guard error.isAboutTheQuestion else { throw error }
        summary.failed += 1
        return try report(.failed(customer, "\(error)"))
      }
      if isFirst { summary.asked += 1 }
      isFirst = false
      let page = answer.value
      for item in answer.skipped {
        summary.skipped += 1
        try report(.skipped(item, customer))
      }
      try await publish(page, of: customer, known: known, writer: writer, summary: &summary, report: report)
      if let next = page.revision, next != revision {
        // The page's refunds are in Kafka now, so the revision can be stored.
        _ = try await writer.send(RefundMarks.record(next, of: customer, at: clock.wallTime, prefix: prefix))
        revision = next
      }
      guard page.hasMore else { return }
    }
  }

  /// Requests one page. A new iteration has at least one.
  private func ask(
    about customer: RefundCustomer, after revision: String?
  ) async -> Result<APIResponse<TransactionPage>?, APIError> {
    let pages = client.getRefundHistory(customer.transactionId, after: revision, in: customer.environment)
    var iterator = pages.makeAsyncIterator()
    do throws(APIError) {
      return .success(try await iterator.next())
    } catch {
      return .failure(error)
    }
  }

  private func publish(
    _ page: TransactionPage, of customer: RefundCustomer, known: KnownRefunds, writer: any LogWriter,
    summary: inout Summary, report: @Sendable (Report) throws -> Void
  ) async throws {
    for item in page.items {
      summary.refunds += 1
      let record = FoundRefundRecord(jws: item.jws, transaction: item.payload).producerRecord(prefix: prefix, run: run)
      guard let record, !known.contains(item.payload) else {
        summary.reported += 1
        continue
      }
      _ = try await writer.send(record.timed(by: clock))
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
