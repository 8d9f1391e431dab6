// The team's own system, as a test wants it to behave.

import AppStore
import AppStoreServerAPI
import Clocks
import Synchronization
import TestSupport

@testable import Consumption

final class TeamSystem: Sendable {
  static let url = "https://team.invalid/consumption"

  /// One question that was posted.
  struct Post: Sendable {
    var question: JSONObject
    var headers: APIHeaders
    var body: [UInt8]
    /// How often the same question came before.
    var tries: Int

    var transaction: String { question["transactionId"]?.text ?? "" }
  }

  /// What it says, and how long it takes it.
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
    /// When those who sleep are to wake, by the number of their post.
    var wakes: [Int: MillraceClock.Instant] = [:]
    var isAppleBeyondReach = false
    var reply: @Sendable (Post) -> Reply? = { _ in .status(200, TeamSystem.consented) }
  }

  static let consented =
    #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"refundPreference":"DECLINE"}"#

  private let state = Mutex(State())

  var posts: [Post] { state.withLock { $0.posts } }
  /// Replies that wait for time to pass. One whose time has come is on its way.
  func asleep(at now: MillraceClock.Instant) -> Int { state.withLock { $0.wakes.values.count { $0 > now } } }

  /// Whether the team's network lets nobody out.
  var isAppleBeyondReach: Bool {
    get { state.withLock { $0.isAppleBeyondReach } }
    set { state.withLock { $0.isAppleBeyondReach = newValue } }
  }

  /// How it answers from now on; nil: nobody is there.
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

/// Apple and the team behind one exchange.
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
