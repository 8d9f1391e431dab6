// Calls the API as a function, without a socket. For tests in this package that control time.

package import AppStore
internal import HTTPTypes

/// The result of a call.
package enum CallOutcome: Sendable {
  /// A response. If it is not complete, its body was cut off.
  case answer(status: Int, headers: [(name: String, value: String)], body: [UInt8], isComplete: Bool)
  /// The connection was reset without a response.
  case reset
}

extension APIServices {
  /// Responds to a call as the server of this environment would.
  ///
  /// - Parameter target: The path and query, percent-encoded.
  /// - Returns: the result, or nil if the method or target is not valid HTTP.
  /// - Throws: `CancellationError` if the task is cancelled during a simulated latency.
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
