// The simulated App Store's API without a socket: a call is a function.

import AppStore
import AppStoreServerAPI
import Foundation
import HTTPTypes
import Synchronization

@testable import AppStoreSimulator

struct InProcessAppStore: HTTPExchange {
  static let productionURL = "http://production.invalid"
  static let sandboxURL = "http://sandbox.invalid"

  let services: APIServices
  private let counts = Counts()

  init(_ services: APIServices) { self.services = services }

  /// Every path that was asked for, with the query, in order.
  var asked: [String] { counts.paths.withLock { $0 } }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    guard let url = URLComponents(string: request.url), let method = HTTPRequest.Method(request.method.rawValue) else {
      throw TransportFailure("no URL", .notSent)
    }
    counts.paths.withLock { $0.append(url.path + (url.query.map { "?\($0)" } ?? "")) }
    let incoming = IncomingRequest(
      environment: request.url.hasPrefix(Self.productionURL) ? .production : .sandbox, method: method,
      path: url.percentEncodedPath, query: (url.queryItems ?? []).map { ($0.name, $0.value ?? "") },
      authorization: request.headers["Authorization"], body: request.body ?? [])
    do {
      switch try await services.pipeline.respond(to: incoming) {
      case .answer(let answer):
        return ExchangeAnswer(
          status: answer.status, headers: APIHeaders(answer.headers.map { .init(name: $0.name, value: $0.value) }),
          body: answer.body)
      case .truncated, .reset: throw TransportFailure("reset", .unclear)
      }
    } catch let failure as TransportFailure {
      throw failure
    } catch {
      throw TransportFailure("\(error)", .unclear, isCancellation: true)
    }
  }

  private final class Counts: Sendable {
    let paths = Mutex<[String]>([])
  }
}
