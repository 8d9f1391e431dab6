// Requests statuses of campaigns for all handlers of a process. A thousand failures that arrive together cause one
// call.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
internal import MillraceWorker

/// A cache of campaign statuses that makes one call at a time for each campaign.
actor CampaignStatuses {
  private struct Question {
    var waiting: [CheckedContinuation<Result<CampaignAnswer, APIError>, Never>] = []
  }

  private var answers: [String: CampaignAnswer] = [:]
  private var questions: [String: Question] = [:]

  /// The time limit for a call, because other failures wait for it.
  private static let limit = Duration.seconds(15)

  /// Returns a status that decides about a failure signed at `signedDate`.
  /// - Throws: `APIError` if the call failed or the next rate-limit slot is too far away; `CancellationError`.
  func answer(
    about campaign: Campaign, signedAt signedDate: Timestamp, clock: MillraceClock, _ client: AppStoreServerClient
  ) async throws -> CampaignAnswer {
    while true {
      try Task.checkCancellation()
      if let answer = answers[campaign.id], answer.settles(campaign, signedAt: signedDate, now: clock.wallTime) {
        return answer
      }
      guard questions[campaign.id] != nil else { break }
      let result = await withCheckedContinuation { questions[campaign.id]?.waiting.append($0) }
      // If the calling task was cancelled, the next waiter makes the call. All waiters share any other error, because
      // each would wait as long for the same result.
      if case .failure(let error) = result, error.kind != .cancelled { throw error }
    }
    questions[campaign.id] = Question()
    let result = await ask(campaign, clock, client.within(Self.limit))
    if case .success(let answer) = result { answers[campaign.id] = answer }
    for waiter in questions.removeValue(forKey: campaign.id)?.waiting ?? [] { waiter.resume(returning: result) }
    return try result.get()
  }

  private func ask(
    _ campaign: Campaign, _ clock: MillraceClock, _ client: AppStoreServerClient
  ) async -> Result<CampaignAnswer, APIError> {
    // The status holds for a time after this one.
    let time = clock.wallTime
    do throws(APIError) {
      return .success(CampaignAnswer(status: try await .of(campaign, askedOf: client), at: time))
    } catch {
      return .failure(error)
    }
  }
}
