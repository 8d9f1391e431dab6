// The retry for one subscription: it waits for a rate-limit slot, writes the intent and makes the call. If the result
// of an earlier call is unknown for long, it checks the subscription before it sends the request again.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
internal import MillraceWorker

/// The retry of one failure.
struct ExtensionRetry {
  let campaign: Campaign
  let subject: ExtensionSubject
  /// The transaction in the failure's notification.
  let before: JWSTransactionDecodedPayload
  let context: HandlerContext

  /// Runs the retry to a final answer, or throws the error that delays it.
  func run() async throws -> ExtensionAnswer {
    let client = try context.appStore(for: subject.bundleId)
    let original = subject.originalTransactionId
    let body = ExtensionRequest.body(campaign, originalTransactionId: original).serialized()
    let result = try await context.once(
      effect, body: body, calling: .extendSubscriptionRenewalDate, in: subject.environment, of: client
    ) { intent, client in
      // If there was an earlier attempt, its request may have taken effect, so send the same one.
      let request = ExtendRenewalDateRequest(json: try JSONObject(parsing: intent.body))
      if mustLook(after: intent), let answer = try await look(request, with: client) {
        return answer.bytes
      }
      do throws(APIError) {
        let response = try await client.extendSubscriptionRenewalDate(original, request, in: subject.environment)
        return ExtensionAnswer(response.value).bytes
      } catch {
        return try await final(error, request, isRepeated: intent.isRepeated, with: client).bytes
      }
    }
    return try Self.answer(result)
  }

  /// Ends the retry of a cancelled campaign; returns nil if it never started. Makes no call.
  func end() async throws -> ExtensionAnswer? {
    switch await context.effect(effect) {
    case nil: return nil
    case .ended(let result)?: return try Self.answer(result)
    case .open?:
      let unclear = ExtensionAnswer.unclear("an operator cancelled the retries before the result was known")
      return try Self.answer(try await context.once(effect, body: []) { _ in unclear.bytes })
    }
  }

  /// Whether Apple may have forgotten the request of an earlier attempt, so that it would be a second extension.
  private func mustLook(after intent: EffectIntent) -> Bool {
    #if PLANTED_FAULTS
      if PlantedFault.blindExtension.isActive { return false }
    #endif
    return intent.isRepeated && context.clock.wallTime - intent.intendedAt > ExtensionCheck.blindTime
  }

  private var effect: String {
    ExtensionRequest.effect(campaign: campaign.id, originalTransactionId: subject.originalTransactionId)
  }

  private static func answer(_ result: [UInt8]) throws -> ExtensionAnswer {
    guard let answer = ExtensionAnswer(result) else {
      throw UnreadableAnswer()
    }
    return answer
  }

  /// Converts a permanent error to an answer.
  /// - Throws: The error if it is not permanent.
  private func final(
    _ error: APIError, _ request: ExtendRenewalDateRequest, isRepeated: Bool, with client: AppStoreServerClient
  ) async throws -> ExtensionAnswer {
    guard let answer = ExtensionAnswer(error) else { throw error }
    // The worker's own call, whose response was lost, may have used up Apple's yearly maximum.
    guard isRepeated, case .refused(let refusal) = answer, refusal.reason == .maxExtensions else { return answer }
    if case .applied(let date)? = try await look(request, with: client) { return .applied(effectiveDate: date) }
    return answer
  }

  /// Checks the subscription's present state at Apple.
  /// - Returns: The answer, or nil if the request had no effect and may be sent.
  private func look(
    _ request: ExtendRenewalDateRequest, with client: AppStoreServerClient
  ) async throws -> ExtensionAnswer? {
    let check = try await client.checkExtension(
      of: subject.originalTransactionId, before: before, days: request.extendByDays ?? campaign.days,
      in: subject.environment)
    switch check {
    case .applied(let date): return .applied(effectiveDate: date)
    case .notApplied: return nil
    case .cannotTell(let why): return .unclear(why)
    }
  }
}

/// The ledger holds an answer of Apple that this version cannot read.
struct UnreadableAnswer: Error {}
