// Posts to a receiver that only accepts or refuses a message, and what its answer means. The worker `forward-<receiver>`
// posts Apple's bodies, the worker `webhook-<name>` posts events.

package import AppStore
package import AppStoreServerAPI
internal import MillraceTime

/// The decision about a response.
package enum ReceiverResponse: Sendable, Hashable {
  /// The receiver accepted the message.
  case taken
  /// A retry may succeed; counted as `code`. Without a delay, the worker's retry schedule applies.
  case later(code: String, after: Duration?)
  /// The receiver rejects the message or redirects.
  case refused

  /// - Parameters:
  ///   - retryAfter: The value of `Retry-After`.
  ///   - now: The real time.
  package init(status: Int, retryAfter: String?, now: Timestamp) {
    let delay = retryAfter.flatMap { RetryAfter.standard($0, now: now) }.map { $0 - now }
    switch status {
    case 200..<300: self = .taken
    case 408, 425, 429: self = .later(code: "busy", after: delay)
    case 300..<500: self = .refused
    default: self = .later(code: "server-error", after: delay)
    }
  }
}

/// The result of one post.
package enum ReceiverReply: Sendable, Hashable {
  /// The receiver answered. The excerpt is an ``AnswerExcerpt`` of the body.
  case answered(ReceiverResponse, status: Int, excerpt: String = "")
  /// There is no answer.
  case failed(code: String, detail: String)

  /// Sends a post and classifies the answer.
  package static func of(_ request: ExchangeRequest, by http: any HTTPExchange) async -> ReceiverReply {
    do {
      let answer = try await http.send(request)
      return .answered(
        ReceiverResponse(
          status: answer.status, retryAfter: answer.headers["Retry-After"], now: MillraceClock.system.wallTime),
        status: answer.status, excerpt: AnswerExcerpt.text(of: answer.body))
    } catch {
      return .failed(code: "unreachable", detail: "\(error.what) (\(error.progress.rawValue))")
    }
  }

  /// The failure, for the log.
  package var cause: String {
    switch self {
    case .answered(_, let status, _): "answered \(status)"
    case .failed(_, let detail): detail
    }
  }

  /// The facts of the answer; nil if there is none.
  package var facts: CallAnswer? {
    guard case .answered(_, let status, let excerpt) = self else { return nil }
    var facts = CallAnswer(status: status)
    facts.excerpt = excerpt
    return facts
  }

  /// Returns what the worker does about the message.
  /// - Parameters:
  ///   - attempt: The number of this post, from 1.
  ///   - refusedAttempts: How many times a refused message is posted.
  package func outcome(attempt: Int, refusedAttempts: Int) -> Outcome {
    var outcome = decision(attempt: attempt, refusedAttempts: refusedAttempts).after(facts)
    if case .answered(.taken, let status, _) = self { outcome.delivered = status }
    return outcome
  }

  private func decision(attempt: Int, refusedAttempts: Int) -> Outcome {
    switch self {
    case .answered(.taken, _, _): .ignore
    case .answered(.later(let code, let delay), let status, _):
      .retry(after: delay, because: code, detail: "answered \(status)")
    case .answered(.refused, let status, _) where attempt >= refusedAttempts:
      .deadLetter("refused", "answered \(status) to attempt \(attempt); see the receiver's log")
    case .answered(.refused, let status, _): .retry(because: "refused", detail: "answered \(status)")
    case .failed(let code, let detail): .retry(because: code, detail: detail)
    }
  }
}
