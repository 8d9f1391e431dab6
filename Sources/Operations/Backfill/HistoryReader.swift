// One page of a history, whatever it takes: what passes by waiting is waited out, and what does not is told by what has to
// happen next.

internal import AppStore
internal import AppStoreServerAPI
internal import Clocks
internal import Millrace

/// What a page that did not come asks for. A table over Apple's errors, so that it can be read and tested as one.
enum HistoryRemedy: Sendable, Hashable {
  /// From the first page: Apple does not take the page token any more.
  case beginAnew
  /// There is nothing: no customer of this history made that transaction.
  case nothingThere
  /// The span lies before what Apple keeps by now.
  case outOfReach
  /// The same question at that time; it is not our turn yet, or Apple named it.
  case wait(until: Timestamp)
  /// The same question in a while.
  case again
  /// Nothing that waiting would mend.
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

/// Asks for pages of one app's histories.
struct HistoryReader: Sendable {
  typealias Page = NotificationHistoryPage<UnverifiedNotification>

  /// What came of a question.
  enum Answer: Sendable {
    case page(Page)
    case beginAnew
    case nothingThere
    case outOfReach
  }

  let client: AppStoreServerClient
  let clock: MillraceClock
  /// How long Apple may keep failing before that is an error of ours.
  var patience = Duration.seconds(30 * 60)
  /// Told before a wait that Apple's failing caused, not one for a turn.
  var onWait: @Sendable (APIError, _ until: Timestamp) -> Void = { _, _ in }

  private static let firstPause = Duration.seconds(1)
  private static let longestPause = Duration.seconds(60)

  /// The page after `token`.
  /// - Throws: `APIError` that waiting would not mend, or that lasted longer than ``patience``; `CancellationError`.
  func page(
    of request: NotificationHistoryRequest, after token: String?, in environment: AppStoreEnvironment
  ) async throws -> Answer {
    var pause = Self.firstPause
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
      case .again:
        until = clock.wallTime + pause
        pause = min(pause * 2, Self.longestPause)
      }
      switch error.kind {
      case .budget: failingSince = nil
      case .rateLimited:
        // Apple answers, and its hour ends.
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
      // An iteration that has not begun has at least one page.
      let page = try await pages.next()
      return .success(page?.value)
    } catch {
      return .failure(error)
    }
  }
}
