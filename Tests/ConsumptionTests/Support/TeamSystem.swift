// The team's own system, with behaviour that the test controls.

import AppStore
import AppStoreServerAPI
import MillraceTime
import Synchronization
import TestSupport

@testable import Consumption

final class TeamSystem: Sendable {
  static let url = "https://team.invalid/consumption"

  /// A posted question.
  struct Post: Sendable {
    var question: JSONObject
    var headers: APIHeaders
    var body: [UInt8]
    /// The number of earlier posts of the same question.
    var tries: Int

    var transaction: String { question["transactionId"]?.text ?? "" }
  }

  /// A response and its delay.
  struct Reply: Sendable {
    var answer: ExchangeAnswer
    var delay = Duration.zero

    static func status(_ status: Int, _ body: String = "", after delay: Duration = .zero) -> Reply {
      Reply(answer: ExchangeAnswer(status: status, body: Array(body.utf8)), delay: delay)
    }
  }

  private struct State {
    var posts: [Post] = []
    var tries: [String: Int] = [:]
    /// The times at which delayed responses are sent, by the number of their post.
    var wakes: [Int: MillraceClock.Instant] = [:]
    var isAppleBeyondReach = false
    var reply: @Sendable (Post) -> Reply? = { _ in .status(200, TeamSystem.consented) }
  }

  static let consented =
    #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"refundPreference":"DECLINE"}"#

  private let state = Mutex(State())

  var posts: [Post] { state.withLock { $0.posts } }
  /// The number of replies that wait for virtual time. Replies that are due do not count.
  func asleep(at now: MillraceClock.Instant) -> Int { state.withLock { $0.wakes.values.count { $0 > now } } }

  /// Whether the team's network blocks calls to Apple.
  var isAppleBeyondReach: Bool {
    get { state.withLock { $0.isAppleBeyondReach } }
    set { state.withLock { $0.isAppleBeyondReach = newValue } }
  }

  /// Sets the reaction to questions; nil means no response.
  func answers(_ reply: @escaping @Sendable (Post) -> Reply?) { state.withLock { $0.reply = reply } }

  func answer(_ request: ExchangeRequest, _ clock: MillraceClock) async throws -> ExchangeAnswer? {
    let body = request.body ?? []
    let question = try JSONObject(parsing: body)
    let (number, reply) = state.withLock { state -> (Int, Reply?) in
      let id = question["notificationUUID"]?.text ?? ""
      let post = Post(
        question: question, headers: request.headers, body: body, tries: state.tries[id, default: 0])
      state.tries[id, default: 0] += 1
      state.posts.append(post)
      return (state.posts.count, state.reply(post))
    }
    guard let reply else { return nil }
    if reply.delay > .zero {
      let wake = clock.now.advanced(by: reply.delay)
      state.withLock { $0.wakes[number] = wake }
      defer { state.withLock { $0.wakes[number] = nil } }
      try await clock.sleep(until: wake)
    }
    return reply.answer
  }
}

extension TransportFailure {
  fileprivate static let refused = TransportFailure("connection refused", .notSent)
}

/// Routes requests to Apple or to the team.
struct Switchboard: HTTPExchange {
  let team: TeamSystem
  let apple: SimulatedExchange
  let clock: MillraceClock

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    guard request.url.hasPrefix(TeamSystem.url) else {
      if team.isAppleBeyondReach { throw .refused }
      return try await apple.send(request)
    }
    let answer: ExchangeAnswer?
    do {
      answer = try await team.answer(request, clock)
    } catch {
      throw TransportFailure("cancelled", .unclear, isCancellation: true)
    }
    guard let answer else { throw TransportFailure.refused }
    return answer
  }
}
