// The worker that scripts/crash kills: a worker as anybody writes one. What it does to the world is one call for each
// renewal, under a name, to an endpoint that counts; a second later a timer says something more of it.

import AppStore
import AsyncHTTPClient
import Millrace
import NIOCore
import NIOHTTP1

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@main struct CrashWorker: NotificationWorker {
  static let name = "crash"
  static let families: Set<NotificationFamily> = [.subscriptions, .tests]

  /// Where calls are counted.
  private let world: String
  /// Whether each run is told there first, which may refuse it.
  private let isAsking: Bool
  private let process = getpid()

  init(_ setup: WorkerSetup) throws {
    guard let url = getenv("CRASH_WORLD") else {
      throw MillraceError(
        .configuration, "no endpoint that counts calls", at: "CRASH_WORLD", remedy: "run this through scripts/crash")
    }
    world = String(cString: url)
    isAsking = getenv("CRASH_ASKS") != nil
  }

  func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome {
    if isAsking { try await ask(about: notification) }
    let milled = try Outcome.emit(Milled(process: Int(process), attempt: context.attempt))
    switch notification.event {
    case .didFailToRenew where context.attempt == 0: throw RetryableFailure("the first try fails")
    case .didRenew, .didFailToRenew: try await extend(notification, context)
    default: return milled
    }
    guard let signed = notification.signedDate else { return milled }
    // The same however often it is set: two runs of the handler make one timer, and its event one `ce_id`.
    return milled.settingTimer("remind/\(notification.id)", at: signed + .seconds(1))
  }

  func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    try .emit(Reminded(process: Int(process)))
  }

  /// Before anything else is done, so that what is refused has no effect.
  private func ask(about notification: Notification) async throws {
    var request = HTTPClientRequest(url: "\(world)/runs")
    request.method = .POST
    request.headers.add(name: "notification", value: notification.id)
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(50))
    let answer = try await response.body.collect(upTo: 1_024)
    if answer.readableBytesView.elementsEqual("refused".utf8) {
      throw PermanentFailure("refused", "the world does not want \(notification.id)")
    }
  }

  /// No two runs have the same body, so that the endpoint sees whether what was written is what is sent.
  private func extend(_ notification: Notification, _ context: HandlerContext) async throws {
    var generator = SystemRandomNumberGenerator()
    let body = "\(notification.id) by \(process), \(generator.next())"
    _ = try await context.once("extend/\(notification.id)", body: Array(body.utf8)) { intent in
      var request = HTTPClientRequest(url: "\(world)/calls")
      request.method = .POST
      request.headers.add(name: "effect", value: intent.name)
      request.headers.add(name: "process", value: "\(process)")
      request.body = .bytes(ByteBuffer(bytes: intent.body))
      let response = try await HTTPClient.shared.execute(request, timeout: .seconds(50))
      let answer = try await response.body.collect(upTo: 1_024)
      // As a defect in a handler would: without a word, with the effect begun and not ended.
      if answer.readableBytesView.elementsEqual("die".utf8) { kill(process, SIGKILL) }
      guard response.status == .ok else {
        throw RetryableFailure("answered \(response.status.code): it was done or not, nobody knows")
      }
      return Array(answer.readableBytesView)
    }
  }

  struct Milled: WorkerEvent {
    static let eventName = "milled"
    var process: Int
    var attempt: Int
  }

  struct Reminded: WorkerEvent {
    static let eventName = "reminded"
    var process: Int
  }
}
