// What became of an answer: the worker remembers it, and publishes Apple's decision, or that none has come in time.

internal import AppStore
internal import Logging
internal import MillraceTime
internal import MillraceWorker

extension ConsumptionWorker {
  /// Publishes the outcome of answers that a notification decides.
  func decided(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    try await withReadableMemory {
      var outcome = Outcome.ignore
      var results = Outcome.Results()
      for decision in RefundDecision.all(in: notification) {
        let known = try await memory(of: decision.transactionId, in: context) ?? AnswerMemory()
        var memory = known
        let answer = memory.apply(decision, at: context.clock.wallTime)
        if memory != known { results = results.keeping(AnswerMemory.name(decision.transactionId), memory.value) }
        if memory.early != known.early {
          let timer = OutcomeTimer(decision)
          outcome = outcome.settingTimer(
            timer.name, at: decision.at + AnswerMemory.openTime, payload: timer.serialized())
        }
        if let answer, let sentAt = answer.sentAt {
          results = try results.emitting(ConsumptionOutcome(answer, sentAt: sentAt))
        }
      }
      outcome.decision = .done(results)
      return outcome
    }
  }

  /// Returns an outcome that also remembers an answer that Apple has.
  func remembering(
    _ question: ConsumptionQuestion, sentAt: Timestamp, preference: String?, with results: Outcome.Results,
    in context: HandlerContext
  ) async throws -> Outcome {
    let end = sentAt + AnswerMemory.time
    // An answer whose time is over was forgotten. A reapply does not remember it again.
    guard context.clock.wallTime < end else { return settled(question, results) }
    guard let memory = try await readableMemory(of: question, in: context) else { return settled(question, results) }
    return remembering(question, sentAt: sentAt, preference, memory, until: end, results)
  }

  /// Returns the outcome of a request that ended without an answer that Apple is known to have. If there is an earlier
  /// answer, the request is remembered, because the next decision is about the request.
  func unanswered(
    _ question: ConsumptionQuestion, with results: Outcome.Results, in context: HandlerContext
  ) async throws -> Outcome {
    let end = question.deadline.final + AnswerMemory.time
    guard context.clock.wallTime < end, let memory = try await readableMemory(of: question, in: context),
      memory.hasAnswer(before: question.askedAt)
    else { return settled(question, results) }
    return remembering(question, sentAt: nil, nil, memory, until: end, results)
  }

  private func remembering(
    _ question: ConsumptionQuestion, sentAt: Timestamp?, _ preference: String?, _ known: AnswerMemory,
    until end: Timestamp, _ results: Outcome.Results
  ) -> Outcome {
    var memory = known
    let answer = RememberedAnswer(
      purchase: AskedPurchase(question), askedAt: question.askedAt, sentAt: sentAt,
      preference: preference, storefront: question.storefront)
    guard memory.add(answer) else { return settled(question, results) }
    let timer = OutcomeTimer(answer.purchase)
    return settled(question, results.keeping(AnswerMemory.name(question.transactionId), memory.value))
      .settingTimer(timer.name, at: end, payload: timer.serialized())
  }

  /// Returns the answers about a request's purchase; nil, with a warning, if another version wrote them. The request is
  /// finished then, and only its outcome is not published.
  private func readableMemory(
    of question: ConsumptionQuestion, in context: HandlerContext
  ) async throws -> AnswerMemory? {
    do {
      return try await memory(of: question.transactionId, in: context) ?? AnswerMemory()
    } catch is UnreadableMemory {
      context.logger.warning(
        "the ledger holds answers that this version cannot read; the outcome of this one will not be published",
        metadata: ["notification": "\(question.notificationId)"])
      return nil
    }
  }

  /// Ends the wait for a decision about an answer, or for an answer before a decision.
  func waited(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    try await withReadableMemory {
      let name = try OutcomeTimer(parsing: timer.payload)
      guard var memory = try await memory(of: name.transactionId, in: context) else { return .ignore }
      let answer = memory.remove(name.notificationUUID)
      guard answer != nil || memory.forget(name.notificationUUID) else { return .ignore }
      let results = Outcome.Results.keeping(AnswerMemory.name(name.transactionId), memory.value)
      guard let answer, answer.decision == nil, let sentAt = answer.sentAt else { return .done(results) }
      return .done(try results.emitting(ConsumptionOutcome(answer, sentAt: sentAt)))
    }
  }

  private func memory(of transactionId: String, in context: HandlerContext) async throws -> AnswerMemory? {
    try await context.state(AnswerMemory.name(transactionId)).map { try AnswerMemory(parsing: $0) }
  }

  private func withReadableMemory(_ body: () async throws -> Outcome) async throws -> Outcome {
    do { return try await body() } catch is UnreadableMemory {
      return .deadLetter(
        "state-unreadable",
        "the ledger holds answers that this version cannot read; run the version that wrote them, then requeue")
    }
  }
}
