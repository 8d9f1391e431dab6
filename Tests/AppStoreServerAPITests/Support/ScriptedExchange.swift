// An exchange that answers from a closure and records its requests.

import AppStore
import Synchronization

@testable import AppStoreServerAPI

final class ScriptedExchange: HTTPExchange {
  typealias Script = @Sendable (ExchangeRequest, _ index: Int) async throws -> ExchangeAnswer

  private let script: Script
  private let asked = Mutex<[ExchangeRequest]>([])
  /// Yields when a request was cancelled before its response.
  let cancellations: AsyncStream<Void>
  private let cancelled: AsyncStream<Void>.Continuation

  init(_ script: @escaping Script) {
    self.script = script
    (cancellations, cancelled) = AsyncStream.makeStream()
  }

  /// Answers every request with the same response.
  convenience init(answer: ExchangeAnswer) { self.init { _, _ in answer } }

  var requests: [ExchangeRequest] { asked.withLock { $0 } }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    let index = asked.withLock { asked in
      asked.append(request)
      return asked.count - 1
    }
    do {
      return try await script(request, index)
    } catch let failure as TransportFailure {
      throw failure
    } catch is CancellationError {
      cancelled.yield()
      throw TransportFailure("cancelled", .unclear, isCancellation: true)
    } catch {
      throw TransportFailure("\(error)", .unclear)
    }
  }
}

extension ExchangeAnswer {
  /// A response with a JSON body.
  static func json(_ status: Int, _ body: JSONObject, headers: APIHeaders = [:]) -> ExchangeAnswer {
    let type = APIHeaders.Field(name: "Content-Type", value: "application/json")
    return ExchangeAnswer(status: status, headers: APIHeaders(headers.fields + [type]), body: body.serialized())
  }

  /// One of Apple's errors.
  static func error(_ code: Int64, headers: APIHeaders = [:]) -> ExchangeAnswer {
    json(Int(code / 10_000), ["errorCode": .integer(code), "errorMessage": "as scripted"], headers: headers)
  }

  static func html(_ status: Int) -> ExchangeAnswer {
    ExchangeAnswer(
      status: status, headers: ["Content-Type": "text/html"], body: Array("<html><body>Sorry</body></html>".utf8))
  }
}

extension ExchangeRequest {
  /// The path and query.
  var target: String {
    let host = url.dropFirst("https://".count)
    return host.firstIndex(of: "/").map { String(host[$0...]) } ?? ""
  }

  /// The bearer token.
  var token: String? { headers["Authorization"].map { String($0.dropFirst("Bearer ".count)) } }
}
