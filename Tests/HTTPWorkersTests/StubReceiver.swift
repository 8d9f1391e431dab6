// A receiver of a webhook in memory. It checks the signature and the form of each post, and answers as the test says.

import AppStore
import AppStoreServerAPI
import Crypto
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceTime
import Synchronization
import Testing

@testable import HTTPWorkers

final class StubReceiver: HTTPExchange {
  static let url = "https://crm.example/hooks"
  static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  /// A post as it arrived.
  struct Post: Sendable {
    var headers: APIHeaders
    var json: JSONObject
    /// How many posts of the same event came before.
    var earlier: Int

    var id: String { headers["webhook-id"] ?? "" }
  }

  private let body: String
  private let react: @Sendable (Post) -> Int
  private let seen = Mutex<(posts: [Post], problems: [String])>(([], []))

  /// - Parameters:
  ///   - body: The body of each answer.
  ///   - react: Returns the status of the answer; 0 means that the connection breaks.
  init(body: String = "", _ react: @escaping @Sendable (Post) -> Int) { (self.body, self.react) = (body, react) }

  /// The posts so far.
  var posts: [Post] { seen.withLock(\.posts) }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    let body = request.body ?? []
    let post: Post
    do {
      let json = try JSONObject(parsing: body)
      let id = request.headers["webhook-id"] ?? ""
      post = seen.withLock { seen in
        let post = Post(headers: request.headers, json: json, earlier: seen.posts.filter { $0.id == id }.count)
        seen.posts.append(post)
        return post
      }
    } catch { throw TransportFailure("the body is not JSON: \(error)", .notSent) }
    let signed = Array("\(post.id).\(request.headers["webhook-timestamp"] ?? "").".utf8) + body
    let key = SymmetricKey(data: Base64.decodeStandard(Array(Self.secret.utf8).dropFirst(6)) ?? [])
    let code = Base64.encodeStandard(Array(HMAC<SHA256>.authenticationCode(for: signed, using: key)))
    if request.headers["webhook-signature"] != "v1," + String(decoding: code, as: UTF8.self) { note("signature") }
    if post.json["id"] != .string(post.id) { note("id and webhook-id differ") }
    if request.url != Self.url { note("url") }
    if request.headers["content-type"] != "application/cloudevents+json" { note("content-type") }
    let status = react(post)
    guard status > 0 else { throw TransportFailure("the connection broke", .unclear) }
    return ExchangeAnswer(status: status, body: Array(self.body.utf8))
  }

  private func note(_ problem: String) { seen.withLock { $0.problems.append(problem) } }

  /// Runs the worker `webhook-crm` with this receiver.
  func run(
    settings: String = "", workers: String = "subscriptions: {}, refunds: {}",
    change: (inout MillraceConfiguration) throws -> Void = { _ in },
    _ body: @escaping @Sendable (WorkerHarness) async throws -> Void
  ) async throws {
    let folder = try TestFolder()
    let secret = try folder.write(Self.secret, to: "secret")
    var setup = WorkerHarness.Setup()
    setup.configuration = try LoadedConfiguration.load(
      text: """
        apps: [{ bundleId: com.example.app, appAppleId: 1 }]
        workers: { \(workers) }
        webhooks:
          crm: { url: "\(Self.url)", secretFile: "\(secret)", \(settings) }
        """
    ).configuration
    try change(&setup.configuration)
    setup.appStore = self
    try await WorkerHarness.run(WebhookWorker.self, setup, body)
    try folder.remove()
    #expect(seen.withLock(\.problems) == [])
  }
}

/// Events as the workers publish them.
enum SampleEvent {
  /// Creates the record of an event.
  static func record(
    _ name: String, id: String, key: String = "2000", from worker: String = "subscriptions",
    data: JSONObject = ["bundleId": "com.example.app", "environment": "Production"]
  ) -> ProducerRecord {
    let attributes = CloudEvent(
      id: id, source: "millrace/\(worker)", type: "dev.millrace.\(worker).\(name)", subject: key,
      time: Timestamp(rfc3339: "2026-01-11T09:30:00.000Z"), contentType: "application/json",
      extensions: ["notificationid": "n-\(id)"],
      traceParent: TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
    return ProducerRecord(
      topic: "appstore.events.\(worker)", key: Array(key.utf8), value: data.serialized(), headers: attributes.headers)
  }
}
