// One subscription's retry: the turn first, then the intent, then the call, and where an earlier call's end is not known, a
// look before it is sent again.

internal import AppStore
internal import AppStoreServerAPI
internal import Clocks
internal import Millrace

/// The retry of one failure.
struct ExtensionRetry {
  let campaign: Campaign
  let subject: ExtensionSubject
  /// The transaction that the failure carried.
  let before: JWSTransactionDecodedPayload
  let context: HandlerContext

  /// How long the same bytes are sent again without a look at what they did.
  static let blindTime = Duration.seconds(3_600)

  /// Brings it to its end, or throws what it has to wait for.
  func run() async throws -> ExtensionAnswer {
    let client = try context.appStore(for: subject.bundleId)
    let original = subject.originalTransactionId
    let body = ExtensionRequest.body(campaign, originalTransactionId: original).serialized()
    let result = try await context.once(
      effect, body: body, calling: .extendSubscriptionRenewalDate, in: subject.environment, of: client
    ) { intent, client in
      // Of an earlier run where there was one: the request that may have had its effect, and no other.
      let request = ExtendRenewalDateRequest(json: try JSONObject(parsing: intent.body))
      if intent.isRepeated, context.clock.wallTime - intent.intendedAt > Self.blindTime,
        let answer = try await look(request, with: client)
      {
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

  /// Ends a retry of a cancelled campaign; nil where none was ever begun. Nothing is called.
  func end() async throws -> ExtensionAnswer? {
    switch await context.effect(effect) {
    case nil: return nil
    case .ended(let result)?: return try Self.answer(result)
    case .open?:
      let unclear = ExtensionAnswer.unclear("its retries were cancelled before their end was known")
      return try Self.answer(try await context.once(effect, body: []) { _ in unclear.bytes })
    }
  }

  private var effect: String {
    ExtensionRequest.effect(campaign: campaign.id, originalTransactionId: subject.originalTransactionId)
  }

  private static func answer(_ result: [UInt8]) throws -> ExtensionAnswer {
    guard let answer = ExtensionAnswer(result) else {
      throw PermanentFailure("effect-unreadable", "the ledger holds an answer that this version cannot read")
    }
    return answer
  }

  /// What an error says for good.
  /// - Throws: the error, where it says nothing for good.
  private func final(
    _ error: APIError, _ request: ExtendRenewalDateRequest, isRepeated: Bool, with client: AppStoreServerClient
  ) async throws -> ExtensionAnswer {
    guard let answer = ExtensionAnswer(error) else { throw error }
    // Our own call, whose answer was lost, may be the one that used up what Apple allows in a year.
    guard isRepeated, case .refused(let refusal) = answer, refusal.reason == .maxExtensions else { return answer }
    if case .applied(let date)? = try await look(request, with: client) { return .applied(effectiveDate: date) }
    return answer
  }

  /// Asks Apple how the subscription stands.
  /// - Returns: nil where the request had no effect and may be sent.
  private func look(
    _ request: ExtendRenewalDateRequest, with client: AppStoreServerClient
  ) async throws -> ExtensionAnswer? {
    let groups = try await client.getAllSubscriptionStatuses(
      subject.originalTransactionId, in: subject.environment)
    let state = groups.value.flatMap(\.subscriptions).first {
      $0.originalTransactionId == subject.originalTransactionId
    }
    let check = ExtensionCheck.judge(
      before: before, present: state?.transaction?.payload, days: request.extendByDays ?? campaign.days)
    switch check {
    case .applied(let date): return .applied(effectiveDate: date)
    case .notApplied: return nil
    case .cannotTell(let why): return .unclear(why)
    }
  }
}
