// The worker that the crash scenarios kill. It makes one named call for each renewal to an endpoint that counts calls,
// and later a timer publishes a second event.

import AppStore
import AsyncHTTPClient
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceWorker
import NIOCore
import NIOHTTP1

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct CrashWorker: ScenarioWorker {
  static let subcommand = "crash-worker"
  static let abstract = "Runs the worker that the crash scenarios kill."
  static let name = "crash"
  static let families: Set<NotificationFamily> = [.subscriptions, .tests]

  /// The URL of the endpoint.
  private let endpoint: String
  /// Whether to ask the endpoint before each run; it may refuse.
  private let isAsking: Bool
  /// Whether to number the renewals of each subscription.
  private let isNumbering: Bool
  /// The time from the signature of a notification to its timer.
  private let reminder: Duration
  private let process = getpid()

  init(_ setup: WorkerSetup) throws {
    guard let url = getenv("CRASH_ENDPOINT") else {
      throw MillraceError(
        .configuration, "no endpoint that counts calls", at: "CRASH_ENDPOINT",
        remedy: "run this through scripts/scenario crash")
    }
    endpoint = String(cString: url)
    if getenv("CRASH_IGNORE_UNANSWERED") != nil { KafkaTransactionalProducer.ignoreUnansweredRequests() }
    isAsking = getenv("CRASH_ASKS") != nil
    isNumbering = getenv("CRASH_NUMBERS") != nil
    reminder = .seconds(getenv("CRASH_REMINDER").flatMap { Int64(String(cString: $0)) } ?? 1)
  }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    if isAsking, try await isRefused(notification) {
      return .deadLetter("refused", "the endpoint refuses \(notification.id)")
    }
    let number = try await number(of: notification, context)
    var results = try Outcome.Results.emitting(
      Milled(process: Int(process), attempt: context.attempt, number: number))
    if let number { results = try results.keeping(Self.counter(of: notification), encoding: number) }
    let milled = Outcome.done(results)
    switch notification.event {
    case .didFailToRenew where context.attempt == 0: return .retry(because: "first-attempt")
    case .didRenew, .didFailToRenew: try await extend(notification, context)
    default: return milled
    }
    guard let signed = notification.signedDate else { return milled }
    // Always the same timer: two runs of the handler set one timer, and its event has one `ce_id`.
    return milled.settingTimer("remind/\(notification.id)", at: signed + reminder)
  }

  func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    try .emit(Reminded(process: Int(process)))
  }

  private static func counter(of notification: AppStoreNotification) -> String { "renewals/\(notification.key)" }

  /// Counts the renewals of a subscription, this one included; nil if the worker does not count.
  private func number(of notification: AppStoreNotification, _ context: HandlerContext) async throws -> Int? {
    guard isNumbering, case .didRenew = notification.event else { return nil }
    return (try await context.state(Self.counter(of: notification), as: Int.self) ?? 0) + 1
  }

  /// Asks first, so that a refused notification has no effect.
  private func isRefused(_ notification: AppStoreNotification) async throws -> Bool {
    var request = HTTPClientRequest(url: "\(endpoint)/runs")
    request.method = .POST
    request.headers.add(name: "notification", value: notification.id)
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(50))
    let answer = try await response.body.collect(upTo: 1_024)
    return answer.readableBytesView.elementsEqual("refused".utf8)
  }

  /// Sends a different body in every run, so the endpoint can check that a repeated call has the stored bytes.
  private func extend(_ notification: AppStoreNotification, _ context: HandlerContext) async throws {
    var generator = SystemRandomNumberGenerator()
    let body = "\(notification.id) by \(process), \(generator.next())"
    _ = try await context.once("extend/\(notification.id)", body: Array(body.utf8)) { intent in
      var request = HTTPClientRequest(url: "\(endpoint)/calls")
      request.method = .POST
      request.headers.add(name: "effect", value: intent.name)
      request.headers.add(name: "process", value: "\(process)")
      request.body = .bytes(ByteBuffer(bytes: intent.body))
      let response = try await HTTPClient.shared.execute(request, timeout: .seconds(50))
      let answer = try await response.body.collect(upTo: 1_024)
      // Simulates a fatal defect in a handler: the process dies while the effect has no result.
      if answer.readableBytesView.elementsEqual("die".utf8) { kill(process, SIGKILL) }
      guard response.status == .ok else {
        throw UnknownResult(status: response.status.code)
      }
      return Array(answer.readableBytesView)
    }
  }

  /// The endpoint did not confirm the call.
  struct UnknownResult: Error {
    var status: UInt
  }

  struct Milled: WorkerEvent {
    static let eventName = "milled"
    var process: Int
    var attempt: Int
    var number: Int?
  }

  struct Reminded: WorkerEvent {
    static let eventName = "reminded"
    var process: Int
  }
}
