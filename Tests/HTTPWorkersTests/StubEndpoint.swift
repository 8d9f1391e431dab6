// An endpoint in memory. It checks the signature and the schema of each request, and answers as the test says.

import AppStore
import AppStoreServerAPI
import CoreMetrics
import Crypto
import Foundation
import MillraceCore
import MillraceTesting
import MillraceTime
import Synchronization
import TestEnvironment
import TestSupport
import Testing

@testable import HTTPWorkers

final class StubEndpoint: HTTPExchange {
  static let url = "https://endpoint.example/notifications"
  static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  /// A request as it arrived.
  struct Request: Sendable {
    var headers: APIHeaders
    var json: JSONObject
    var data: JSONObject

    var id: String { headers["webhook-id"] ?? "" }
    var kind: String { if case .string(let kind)? = data["kind"] { kind } else { "" } }
    var key: String { if case .string(let key)? = data["key"] { key } else { "" } }
    var attempt: Int64 { if case .integer(let attempt)? = data["attempt"] { attempt } else { 0 } }

    /// Returns a member of a member of `data`.
    subscript(_ path: String...) -> JSON? {
      var value = JSON.object(data)
      for name in path {
        guard case .object(let object) = value, let next = object[name] else { return nil }
        value = next
      }
      return value
    }
  }

  /// The reaction to a request.
  enum Reply: Sendable {
    case answer(Int, APIHeaders = ["content-type": "application/json"], String = "")
    case fail(TransportFailure.Progress)
    /// No answer until the request is cancelled.
    case silence

    static func outcome(_ json: JSON) -> Reply {
      .answer(200, ["content-type": "application/json"], String(decoding: json.serialized(), as: UTF8.self))
    }
    static let nothing = Reply.answer(204, [:])
  }

  private let schema: SchemaCheck
  private let apple: (any HTTPExchange)?
  private let react: @Sendable (Request) -> Reply
  private let seen = Mutex<(requests: [Request], problems: [String])>(([], []))

  /// - Parameter apple: Receives the requests to other URLs.
  init(apple: (any HTTPExchange)? = nil, _ react: @escaping @Sendable (Request) -> Reply) throws {
    schema = try SchemaCheck(protocolFile: "request")
    self.apple = apple
    self.react = react
  }

  /// The requests so far.
  var requests: [Request] { seen.withLock(\.requests) }
  /// The faults of the requests.
  var problems: [String] { seen.withLock(\.problems) }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    guard request.url == Self.url else {
      guard let apple else { throw TransportFailure("no App Store", .notSent) }
      return try await apple.send(request)
    }
    let received: Request
    do {
      received = try receive(request)
    } catch {
      note("\(error)")
      return ExchangeAnswer(status: 500)
    }
    switch react(received) {
    case .answer(let status, let headers, let body):
      return ExchangeAnswer(status: status, headers: headers, body: Array(body.utf8))
    case .fail(let progress): throw TransportFailure("the connection broke", progress)
    case .silence:
      do { try await Task.sleep(for: .seconds(60)) } catch {
        throw TransportFailure("cancelled", .unclear, isCancellation: true)
      }
      throw TransportFailure("nobody cancelled the request", .unclear)
    }
  }

  private func receive(_ request: ExchangeRequest) throws -> Request {
    let body = request.body ?? []
    let json = try JSONObject(parsing: body)
    guard case .object(let data)? = json["data"] else { throw JSONError(.notAnObject, at: 0) }
    let received = Request(headers: request.headers, json: json, data: data)
    for problem in schema.problems(.object(json)) { note(problem) }
    if json["id"] != .string(received.id) { note("id and webhook-id differ") }
    if received.id.contains(".") { note("webhook-id has a dot") }
    if request.headers["millrace-protocol"] != "1" { note("millrace-protocol") }
    if request.headers["content-type"] != "application/cloudevents+json" { note("content-type") }
    let signed = Array("\(received.id).\(request.headers["webhook-timestamp"] ?? "").".utf8) + body
    let key = SymmetricKey(data: Base64.decodeStandard(Array(Self.secret.utf8).dropFirst(6)) ?? [])
    let code = Base64.encodeStandard(Array(HMAC<SHA256>.authenticationCode(for: signed, using: key)))
    if request.headers["webhook-signature"] != "v1," + String(decoding: code, as: UTF8.self) {
      note("webhook-signature")
    }
    seen.withLock { $0.requests.append(received) }
    return received
  }

  private func note(_ problem: String) { seen.withLock { $0.problems.append(problem) } }
}

extension StubEndpoint {
  /// Runs the worker `winback` with this endpoint.
  func run(
    families: [String] = ["subscriptions"], change: (inout WorkerEntry) -> Void = { _ in },
    seed: UInt64 = 1, metrics: (any MetricsFactory)? = nil,
    _ body: @escaping @Sendable (WorkerHarness) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let secret = try directory.write(Self.secret, to: "secret")
    var entry = WorkerEntry()
    entry.families = families
    entry.handler.url = Self.url
    entry.handler.secretFile = secret
    change(&entry)
    var setup = WorkerHarness.Setup()
    setup.configuration.workers["winback"] = entry
    setup.appStore = self
    setup.seed = seed
    setup.metrics = metrics
    try await WorkerHarness.run(HTTPWorker.self, setup, body)
    #expect(problems.isEmpty)
  }
}
