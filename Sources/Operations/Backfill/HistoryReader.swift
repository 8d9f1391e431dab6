// Reads one page of a history. Transient errors are retried; other errors are returned as the action that the caller
// has to take.

internal import AppStore
internal import AppStoreServerAPI
internal import KafkaClient
internal import MillraceTime
internal import MillraceWorker

/// The reaction to a failed request for a page. A table over Apple's errors, so it can be read and tested as one.
enum HistoryRemedy: Sendable, Hashable {
  /// Start again at the first page: Apple rejected the page token.
  case beginAnew
  /// The history is empty: the transaction belongs to no customer of this app and environment.
  case nothingThere
  /// The time range is older than what Apple keeps.
  case outOfReach
  /// Repeat the request at the given time, which is the budget's next slot or a time that Apple named.
  case wait(until: Timestamp)
  /// Repeat the request after a pause.
  case again
  /// Give up: retrying does not fix the error.
  case giveUp

  init(_ error: APIError, hasToken: Bool) {
    switch error.code {
    case .invalidPaginationToken?, .paginationTokenExpired?:
      self = hasToken ? .beginAnew : .giveUp
      return
    case .transactionIdNotFound?:
      self = .nothingThere
      return
    case .startDateTooFarInPast?:
      self = .outOfReach
      return
    default: break
    }
    switch error.kind {
    case .violation(let violations):
      self = violations.contains { $0.rule == .notificationWindow } ? .outOfReach : .giveUp
    case .budget, .rateLimited: self = error.retryAt.map { .wait(until: $0) } ?? .again
    case .cancelled, .credentials, .unauthorized, .unverifiable: self = .giveUp
    case .refused, .transport, .deadline, .undecodable:
      switch error.errorClass {
      case .retryNow, .retryLater: self = error.retryAt.map { .wait(until: $0) } ?? .again
      case .never, .configuration: self = .giveUp
      }
    }
  }
}

/// Reads pages of one app's histories.
struct HistoryReader: Sendable {
  typealias Page = NotificationHistoryPage<UnverifiedNotification>

  /// The result of a request.
  enum Answer: Sendable {
    case page(Page)
    case beginAnew
    case nothingThere
    case outOfReach
  }

  let client: AppStoreServerClient
  let clock: MillraceClock
  /// How long to retry while Apple fails.
  var patience = Duration.seconds(30 * 60)
  /// Called before a wait that a failure at Apple caused, but not before a wait for the budget.
  var onWait: @Sendable (APIError, _ until: Timestamp) -> Void = { _, _ in }

  /// Reads the page after `token`.
  /// - Throws: `APIError` that retrying does not fix, or that lasted longer than ``patience``; `CancellationError`.
  func page(
    of request: NotificationHistoryRequest, after token: String?, in environment: AppStoreEnvironment
  ) async throws -> Answer {
    var backoff = Backoff(from: .seconds(1), upTo: .seconds(60))
    var failingSince: MillraceClock.Instant?
    while true {
      try Task.checkCancellation()
      let error: APIError
      switch await ask(request, token, environment) {
      case .success(let page?): return .page(page)
      case .success(nil): return .nothingThere
      case .failure(let failure): error = failure
      }
      let until: Timestamp
      switch HistoryRemedy(error, hasToken: token != nil) {
      case .beginAnew: return .beginAnew
      case .nothingThere: return .nothingThere
      case .outOfReach: return .outOfReach
      case .giveUp:
        try Task.checkCancellation()
        throw error
      case .wait(let time): until = time
      case .again: until = clock.wallTime + backoff.next()
      }
      switch error.kind {
      case .budget: failingSince = nil
      case .rateLimited:
        // A 429 is an answer from Apple, and its pause ends.
        failingSince = nil
        onWait(error, until)
      default:
        let since = failingSince ?? clock.now
        failingSince = since
        guard since.duration(to: clock.now) < patience else { throw error }
        onWait(error, until)
      }
      try await clock.sleep(until: clock.now.advanced(by: max(.zero, until - clock.wallTime)))
    }
  }

  private func ask(
    _ request: NotificationHistoryRequest, _ token: String?, _ environment: AppStoreEnvironment
  ) async -> Result<Page?, APIError> {
    var pages = client.getUnverifiedNotificationHistory(request, after: token, in: environment).makeAsyncIterator()
    do throws(APIError) {
      // A new iteration returns at least one page.
      let page = try await pages.next()
      return .success(page?.value)
    } catch {
      return .failure(error)
    }
  }
}
