// The API without a socket: a call is a function. For tests inside this package that turn time by hand.

package import AppStore
internal import HTTPTypes

/// What a caller without a socket gets.
package enum CallOutcome: Sendable {
  /// An answer; where it is not complete its body broke off.
  case answer(status: Int, headers: [(name: String, value: String)], body: [UInt8], isComplete: Bool)
  /// The connection was reset, and nothing said.
  case reset
}

extension APIServices {
  /// Answers a call as the server of that environment would.
  ///
  /// - Parameter target: The path and the query, percent-encoded.
  /// - Returns: nil for what is no request of HTTP.
  /// - Throws: `CancellationError` while a latency is waited for.
  package func call(
    _ method: String, _ target: some StringProtocol, authorization: String?, body: [UInt8],
    in environment: AppStoreEnvironment
  ) async throws -> CallOutcome? {
    let parts = target.split(separator: "?", maxSplits: 1)
    guard let method = HTTPRequest.Method(method), let path = parts.first else { return nil }
    let query = (parts.dropFirst().first ?? "").split(separator: "&").map { item in
      let pair = item.split(separator: "=", maxSplits: 1).map { PercentEncoding.decode($0) ?? String($0) }
      return (name: pair.first ?? "", value: pair.count > 1 ? pair[1] : "")
    }
    let request = IncomingRequest(
      environment: environment, method: method, path: String(path), query: query, authorization: authorization,
      body: body)
    switch try await pipeline.respond(to: request) {
    case .answer(let answer): return outcome(answer, bytes: answer.body.count)
    case .truncated(let answer, let bytes): return outcome(answer, bytes: bytes)
    case .reset: return .reset
    }
  }

  private func outcome(_ answer: APIAnswer, bytes: Int) -> CallOutcome {
    .answer(
      status: answer.status, headers: answer.headers.map { ($0.name, $0.value) },
      body: Array(answer.body.prefix(bytes)), isComplete: bytes == answer.body.count)
  }
}
