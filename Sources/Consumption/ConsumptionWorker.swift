// Answers Apple's consumption requests. The worker asks the team's providers, checks the answer against every
// documented rule, sends it once and publishes the result. `docs/consumption.md` describes the flow.

package import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
internal import Logging
package import MillraceCore
package import MillraceRecords
package import MillraceWorker

/// The worker behind `millrace-consumption`.
package struct ConsumptionWorker: NotificationWorker {
  /// The name in topics, consumer group and ledger.
  package static let name = "consumption"
  /// The sources of answers.
  package typealias Settings = ConsumptionSettings
  /// The families that the worker reads: Apple's requests, and the decisions that follow.
  package static let families: Set<NotificationFamily> = [.consumptionRequests, .refunds, .foundRefunds]

  /// Retry delays that suit a deadline of twelve hours. The deadline ends the attempts, so the maximum exceeds the 4
  /// 320 attempts that fit at the shortest delay.
  package static var policy: WorkerPolicy {
    var policy = WorkerPolicy()
    policy.retryDelays = [.seconds(10), .seconds(60), .seconds(600)]
    policy.maximumAttempts = 10_000
    return policy
  }

  private let providers: ProviderChain

  /// Creates the providers and reads their secrets and their topic.
  /// - Throws: `MillraceError` that names the configuration key to correct.
  package init(_ setup: WorkerSetup) async throws {
    providers = try await ProviderChain(setup)
  }

  /// Returns the final deadline, by which the worker orders requests. Neither the headers nor the record's timestamp
  /// are signed, so the later of both counts here. The handler uses the signed date.
  package static func deadline(of envelope: NotificationEnvelope, receivedAt: Timestamp) -> Timestamp? {
    guard envelope.notificationType == NotificationTypeV2.consumptionRequest.rawValue else { return nil }
    return ConsumptionDeadline(signedDate: nil, receivedAt: max(receivedAt, envelope.time ?? receivedAt)).final
  }

  /// Answers one request, or delays it for another attempt.
  package func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let asked: ConsumptionQuestion?
    do {
      asked = try ConsumptionQuestion(notification)
    } catch {
      return .deadLetter(error.reason, error.detail)
    }
    guard let question = asked else { return try await decided(notification, in: context) }
    let status = await context.effect(question.effect)
    if case .ended(let bytes)? = status {
      return try await close(question, try ConsumptionRecord(parsing: bytes), in: context)
    }
    guard !question.deadline.isOver(at: context.clock.wallTime) else {
      // The final deadline has passed. On a reapply, the earlier result stands.
      if context.isReapplied { return .ignore }
      guard status == nil else { return try await expireUnclear(question, in: context) }
      return try await expire(question, "lag", nil, in: context)
    }
    switch await providers.find(question) {
    case .withhold(_, let provider) where status != nil:
      return try await withdraw(question, by: provider, in: context)
    case .withhold(let reason, let provider):
      let withheld = ConsumptionWithheld(purchase: AskedPurchase(question), reason: reason, provider: provider)
      return try await unanswered(question, with: .emitting(withheld), in: context)
    case .later(let reason, let detail, let hint, let provider):
      context.logger.log(
        level: detail == nil ? .info : .warning, "no answer from a provider yet",
        metadata: ["provider": "\(provider)", "reason": "\(reason)", "detail": "\(detail ?? "")"])
      return try await postpone(
        question, reason, detail, hint.map { .notBefore($0) } ?? .none, isUnclear: status != nil, in: context)
    case .send(let request, let provider):
      // If an earlier attempt may have reached Apple, `once` sends its bytes again, not these.
      return try await send(ConsumptionIntent(request, by: provider), question, in: context)
    }
  }

  /// Publishes `consumption.at-risk` for a request whose answer is still missing, or that an answer had no outcome.
  package func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    guard !OutcomeTimer.isName(timer.name) else { return try await waited(timer, in: context) }
    let notice = try RiskNotice(parsing: timer.payload)
    // The answer was sent just before the timer fired.
    if case .ended? = await context.effect(notice.effect) { return .ignore }
    // Already warned: a run that began before the first warning set the timer again.
    guard try await context.state(timer.name) == nil else { return .ignore }
    return .done(try .emitting(notice.event(at: context.clock.wallTime)).keeping(timer.name, [1]))
  }

  // MARK: - Sending

  private func send(
    _ intent: ConsumptionIntent, _ question: ConsumptionQuestion, in context: HandlerContext
  ) async throws -> Outcome {
    // Limit the call to most of the handler's time, because the result of a cancelled call is unknown.
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
      return try await close(question, try ConsumptionRecord(parsing: bytes), in: context)
    } catch let error as APIError where error.kind != .cancelled {
      context.logger.log(
        level: error.kind == .budget ? .debug : .info, "Apple has not accepted the answer yet",
        metadata: ["error": "\(error)"])
      let hint = error.retryAt.map { ConsumptionDeadline.RetryHint.turn(in: $0 - context.clock.wallTime) }
      return try await postpone(question, error.postponement, "\(error)", hint ?? .none, in: context)
    }
  }

  /// Closes an answer that an earlier attempt may have sent and the team has withdrawn since. Makes no call.
  private func withdraw(
    _ question: ConsumptionQuestion, by provider: String?, in context: HandlerContext
  ) async throws -> Outcome {
    let record = ConsumptionRecord.withdrawn(by: provider)
    let bytes = try await context.once(question.effect, body: []) { _ in record.serialized() }
    return try await close(question, try ConsumptionRecord(parsing: bytes), in: context)
  }

  private func close(
    _ question: ConsumptionQuestion, _ record: ConsumptionRecord, in context: HandlerContext
  ) async throws -> Outcome {
    let purchase = AskedPurchase(question)
    guard !record.isWithdrawn else {
      let withheld = ConsumptionWithheld(purchase: purchase, reason: "answer-withdrawn", provider: record.provider)
      return try await unanswered(question, with: .emitting(withheld), in: context)
    }
    let provider = record.provider ?? "unknown"
    guard record.isSent else {
      let refused = ConsumptionRefused(
        purchase: purchase, provider: provider, errorCode: record.errorCode, errorMessage: record.errorMessage,
        status: record.status)
      return try await unanswered(question, with: .emitting(refused), in: context)
    }
    let sentAt = record.at ?? context.clock.wallTime
    let sent = ConsumptionSent(
      purchase: purchase, provider: provider, sentAt: sentAt.rfc3339,
      lateBySeconds: question.deadline.lateness(at: sentAt).map { $0.components.seconds },
      refundPreference: record.refundPreference)
    // If the worker is so far behind that there was no time for a warning, publish it with the answer.
    var results = Outcome.Results()
    if !record.isForetold, sentAt >= question.deadline.noticeAt {
      results = try results.emitting(RiskNotice(question, reason: "lag").event(at: sentAt))
    }
    return try await remembering(
      question, sentAt: sentAt, preference: record.refundPreference, with: try results.emitting(sent), in: context)
  }

  // MARK: - Waiting

  private func postpone(
    _ question: ConsumptionQuestion, _ reason: String, _ detail: String?, _ hint: ConsumptionDeadline.RetryHint,
    isUnclear: Bool = false, in context: HandlerContext
  ) async throws -> Outcome {
    let now = context.clock.wallTime
    guard case .again(let delay) = question.deadline.next(now: now, attempt: context.attempt, hint: hint) else {
      guard !isUnclear else { return try await expireUnclear(question, in: context) }
      return try await expire(question, reason, detail, in: context)
    }
    let outcome = Outcome.retry(after: delay, because: reason)
    guard try await context.state(question.warning) == nil else { return outcome }
    let isBehind = context.attempt == 0 && now >= question.deadline.noticeAt
    return outcome.settingTimer(
      question.warning, at: question.deadline.notice(now: now, hint: hint),
      payload: RiskNotice(question, reason: isBehind ? "lag" : reason).serialized())
  }

  private func expireUnclear(_ question: ConsumptionQuestion, in context: HandlerContext) async throws -> Outcome {
    try await expire(
      question, "outcome-unknown", "the last call got no response; Apple may have received the answer", in: context)
  }

  private func expire(
    _ question: ConsumptionQuestion, _ reason: String, _ detail: String?, in context: HandlerContext
  ) async throws -> Outcome {
    let late = question.deadline.lateness(at: context.clock.wallTime)?.components.seconds ?? 0
    let expired = ConsumptionExpired(
      purchase: AskedPurchase(question), lateBySeconds: late, reason: reason, detail: detail)
    return try await unanswered(question, with: .emitting(expired), in: context)
  }

  func settled(_ question: ConsumptionQuestion, _ results: Outcome.Results) -> Outcome {
    .done(results.keeping(question.warning, nil)).cancellingTimer(question.warning)
  }
}

extension ConsumptionQuestion {
  /// The endpoint for the answer.
  var endpoint: APIEndpoint {
    switch version {
    case .v1: .sendConsumptionInformationV1
    case .v2: .sendConsumptionInformation
    }
  }
  /// The name of the effect: one answer for each notification.
  var effect: String { Self.effect(notificationId) }
  static func effect(_ notificationId: String) -> String { "consumption/\(notificationId)" }
  /// The name of the warning's timer, and of the state that records that it fired.
  var warning: String { "at-risk/\(notificationId)" }
}
