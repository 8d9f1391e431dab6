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
        let answer = memory.take(decision, at: context.clock.wallTime)
        if memory != known { results = results.keeping(AnswerMemory.name(decision.transactionId), memory.value) }
        if memory.early != known.early {
          let timer = OutcomeTimer(decision)
          outcome = outcome.settingTimer(
            timer.name, at: decision.at + AnswerMemory.openTime, payload: timer.serialized())
        }
        if let answer { results = try results.emitting(ConsumptionOutcome(answer)) }
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
    var memory: AnswerMemory
    do {
      memory = try await self.memory(of: question.transactionId, in: context) ?? AnswerMemory()
    } catch is UnreadableMemory {
      // Apple has the answer, so the request is finished. Only its outcome is not published.
      context.logger.warning(
        "the ledger holds answers that this version cannot read; the outcome of this one will not be published",
        metadata: ["notification": "\(question.notificationId)"])
      return settled(question, results)
    }
    let answer = RememberedAnswer(
      purchase: AskedPurchase(question), askedAt: question.deadline.planned - ConsumptionDeadline.time, sentAt: sentAt,
      preference: preference, storefront: question.storefront)
    guard memory.add(answer) else { return settled(question, results) }
    let timer = OutcomeTimer(answer.purchase)
    return settled(question, results.keeping(AnswerMemory.name(question.transactionId), memory.value))
      .settingTimer(timer.name, at: end, payload: timer.serialized())
  }

  /// Ends the wait for a decision about an answer, or for an answer before a decision.
  func waited(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    try await withReadableMemory {
      let name = try OutcomeTimer(parsing: timer.payload)
      guard var memory = try await memory(of: name.transactionId, in: context) else { return .ignore }
      let answer = memory.remove(name.notificationUUID)
      guard answer != nil || memory.forget(name.notificationUUID) else { return .ignore }
      let results = Outcome.Results.keeping(AnswerMemory.name(name.transactionId), memory.value)
      guard let answer, answer.decision == nil else { return .done(results) }
      return .done(try results.emitting(ConsumptionOutcome(answer)))
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
