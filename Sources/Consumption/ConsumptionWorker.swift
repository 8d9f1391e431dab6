// Answers Apple's questions about refunds: asks the team's own providers, checks the answer against every documented
// rule, sends it once, and says what became of it. The flow is that of `docs/consumption.md`.

public import AppStore
internal import AppStoreServerAPI
internal import Clocks
internal import Logging
public import Millrace

/// The worker behind `millrace-consumption`.
public struct ConsumptionWorker: NotificationWorker {
  /// Its identity in topics, group and ledger.
  public static let name = "consumption"
  /// What it reads.
  public static let families: Set<NotificationFamily> = [.consumptionRequests]

  /// Tiers that fit a day of twelve hours. The deadline ends attempts, not their number: of the shortest wait it has room
  /// for 4 320.
  public static var policy: WorkerPolicy {
    var policy = WorkerPolicy()
    policy.retryDelays = [.seconds(10), .seconds(60), .seconds(600)]
    policy.maximumAttempts = 10_000
    return policy
  }

  private let providers: ProviderChain

  /// Reads the providers' secrets, and their topic.
  /// - Throws: `MillraceError` that names the key to mend.
  public init(_ setup: WorkerSetup) async throws {
    providers = try await ProviderChain(setup)
  }

  /// The end of Apple's patience: what is nearest to it is answered first.
  public static func deadline(of envelope: NotificationEnvelope, receivedAt: Timestamp) -> Timestamp? {
    ConsumptionDeadline(signedDate: nil, receivedAt: receivedAt).final
  }

  /// Answers one request, or says when to try again.
  public func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome {
    guard let question = try ConsumptionQuestion(notification) else { return .ignore }
    let standing = await context.effect(question.effect)
    if case .ended(let bytes)? = standing {
      return try close(question, try ConsumptionRecord(parsing: bytes), in: context)
    }
    guard !question.deadline.isOver(at: context.clock.wallTime) else {
      // Nobody can be answered any more: what was decided in its time stands.
      if context.isReapplied { return .ignore }
      guard standing == nil else {
        return try expire(
          question, "outcome-unknown", "the last call brought no answer; Apple may have it", in: context)
      }
      return try expire(question, "lag", nil, in: context)
    }
    // What may have been sent is sent again, whoever would say what by now.
    if standing != nil { return try await send(ConsumptionIntent(), question, in: context) }
    switch await providers.find(question) {
    case .withhold(let reason, let provider):
      return try settled(
        question,
        .emit(ConsumptionWithheld(purchase: AskedPurchase(question), reason: reason, provider: provider)))
    case .later(let reason, let detail, let wish, let provider):
      context.logger.log(
        level: detail == nil ? .info : .warning, "no answer from a provider yet",
        metadata: ["provider": "\(provider)", "reason": "\(reason)", "detail": "\(detail ?? "")"])
      return try await postpone(question, reason, detail, wish.map { .notBefore($0) } ?? .none, in: context)
    case .send(let request, let provider):
      return try await send(ConsumptionIntent(request, by: provider), question, in: context)
    }
  }

  /// Reports a request whose answer is still missing.
  public func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    let notice = try RiskNotice(parsing: timer.payload)
    // Answered in this very moment.
    if case .ended? = await context.effect(notice.effect) { return .ignore }
    // Told already: a run of the request that began before the first warning has set the timer again.
    guard try await context.state(timer.name) == nil else { return .ignore }
    return try .emit(notice.event(at: context.clock.wallTime)).keeping(timer.name, [1])
  }

  // MARK: - Sending

  private func send(
    _ intent: ConsumptionIntent, _ question: ConsumptionQuestion, in context: HandlerContext
  ) async throws -> Outcome {
    // As long as the run may take, but for its end: a call that is given up is one whose outcome nobody knows.
    let client = try context.appStore(for: question.bundleId)
      .within(max(.seconds(1), (context.deadline - context.clock.wallTime) * 0.9))
    let isForetold = try await context.state(question.warning) != nil
    do {
      let bytes = try await context.once(
        question.effect, body: intent.serialized(), calling: question.endpoint, in: question.environment, of: client
      ) { kept, client in
        let intent = try ConsumptionIntent(parsing: kept.body)
        return try await client.send(intent, question, isForetold: isForetold) { context.clock.wallTime }.serialized()
      }
      return try close(question, try ConsumptionRecord(parsing: bytes), in: context)
    } catch let error as APIError where error.kind != .cancelled {
      context.logger.log(
        level: error.kind == .budget ? .debug : .info, "Apple did not take an answer yet",
        metadata: ["error": "\(error)"])
      let wish = error.retryAt.map { ConsumptionDeadline.Wish.turn(in: $0 - context.clock.wallTime) }
      return try await postpone(question, error.postponement, "\(error)", wish ?? .none, in: context)
    }
  }

  private func close(
    _ question: ConsumptionQuestion, _ record: ConsumptionRecord, in context: HandlerContext
  ) throws -> Outcome {
    let purchase = AskedPurchase(question)
    let provider = record.provider ?? "unknown"
    guard record.isSent else {
      return try settled(
        question,
        .emit(
          ConsumptionRefused(
            purchase: purchase, provider: provider, errorCode: record.errorCode, errorMessage: record.errorMessage,
            status: record.status)))
    }
    let sentAt = record.at ?? context.clock.wallTime
    let sent = ConsumptionSent(
      purchase: purchase, provider: provider, sentAt: sentAt.rfc3339,
      lateBySeconds: question.deadline.lateness(at: sentAt).map { $0.components.seconds },
      refundPreference: record.refundPreference)
    // A worker so far behind that there was no time for a warning says so with the answer: those after it are later.
    guard !record.isForetold, sentAt >= question.deadline.noticeAt else { return try settled(question, .emit(sent)) }
    return try settled(question, .emit(RiskNotice(question, reason: "lag").event(at: sentAt), sent))
  }

  // MARK: - Waiting

  private func postpone(
    _ question: ConsumptionQuestion, _ reason: String, _ detail: String?, _ wish: ConsumptionDeadline.Wish,
    in context: HandlerContext
  ) async throws -> Outcome {
    let now = context.clock.wallTime
    guard case .again(let delay) = question.deadline.next(now: now, attempt: context.attempt, wish: wish) else {
      return try expire(question, reason, detail, in: context)
    }
    let outcome = Outcome.retry(after: delay, because: reason)
    guard try await context.state(question.warning) == nil else { return outcome }
    let isBehind = context.attempt == 0 && now >= question.deadline.noticeAt
    return outcome.settingTimer(
      question.warning, at: question.deadline.notice(now: now, wish: wish),
      payload: RiskNotice(question, reason: isBehind ? "lag" : reason).serialized())
  }

  private func expire(
    _ question: ConsumptionQuestion, _ reason: String, _ detail: String?, in context: HandlerContext
  ) throws -> Outcome {
    let late = question.deadline.lateness(at: context.clock.wallTime)?.components.seconds ?? 0
    return try settled(
      question,
      .emit(
        ConsumptionExpired(
          purchase: AskedPurchase(question), lateBySeconds: late, reason: reason, detail: detail)))
  }

  private func settled(_ question: ConsumptionQuestion, _ outcome: Outcome) -> Outcome {
    outcome.cancellingTimer(question.warning).keeping(question.warning, nil)
  }
}

extension ConsumptionQuestion {
  /// Where its answer goes.
  var endpoint: APIEndpoint {
    switch version {
    case .v1: .sendConsumptionInformationV1
    case .v2: .sendConsumptionInformation
    }
  }
  /// Names the answer, once for each notification.
  var effect: String { Self.effect(notificationId) }
  static func effect(_ notificationId: String) -> String { "consumption/\(notificationId)" }
  /// Names the timer of the warning and, once it has fired, the note that it did.
  var warning: String { "at-risk/\(notificationId)" }
}
