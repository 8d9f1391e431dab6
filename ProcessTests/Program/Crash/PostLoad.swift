// Posts to an ingress at a fixed rate, regardless of the answers, and counts the answers by fault.

import AsyncHTTPClient
import MillraceCore
import MillraceTesting
import ScenarioRig
import Synchronization

/// The answers during one fault.
struct PostTally: Sendable {
  /// The number of answers by status; 0 counts posts without an answer.
  private(set) var answers: [Int: Int] = [:]
  /// The number of answers after the ingress's deadline.
  private(set) var late = 0
  /// The longest time to an answer.
  private(set) var slowest = Duration.zero
  /// The time from the start of the fault to the last answer other than 200.
  private(set) var lastBad: Duration?

  var posts: Int { answers.values.reduce(0, +) }
  /// The number of answers other than 200 and 503.
  var others: Int { answers.filter { $0.key != 200 && $0.key != 503 }.values.reduce(0, +) }

  mutating func add(_ status: Int, after wait: Duration, sinceFault: Duration, isLate: Bool) {
    answers[status, default: 0] += 1
    slowest = max(slowest, wait)
    if isLate { late += 1 }
    if status != 200 { lastBad = max(lastBad ?? .zero, sinceFault) }
  }
}

final class PostLoad: Sendable {
  private struct State {
    var began = ContinuousClock.now
    var tallies = [PostTally()]
    var accepted: Set<String> = []
    var effects: [String: Bool] = [:]
    var isStopped = false
  }

  /// The time between two posts: 40 posts per second.
  static let interval = Duration.milliseconds(25)
  /// The ingress's deadline, plus two seconds because the machine also starts nodes at that time.
  private static let deadline = IngressSettings().deadline + .seconds(2)

  private let url: String
  private let client: HTTPClient
  private let state = Mutex(State())

  init(url: String) {
    self.url = url
    var configuration = HTTPClient.Configuration()
    // A post that waits for Kafka occupies its connection. With the default of 8, posts would wait in the client
    // instead.
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1_024
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// The notifications that were answered 200.
  var accepted: Set<String> { state.withLock { $0.accepted } }
  /// Whether each posted notification has an effect.
  var effects: [String: Bool] { state.withLock { $0.effects } }
  /// The answers by fault, in order.
  var tallies: [PostTally] { state.withLock { $0.tallies } }

  /// Starts counting for the next fault.
  func beginNextFault() {
    state.withLock { state in
      state.tallies.append(PostTally())
      state.began = .now
    }
  }

  /// Posts until ``stop()``, then waits for the remaining answers.
  func run(_ next: @escaping @Sendable () async throws -> (NotificationFixture, hasEffect: Bool)) async throws {
    do {
      try await withThrowingDiscardingTaskGroup { posts in
        var due = ContinuousClock.now
        while !state.withLock({ $0.isStopped }) {
          let (fixture, hasEffect) = try await next()
          state.withLock { $0.effects[fixture.id] = hasEffect }
          posts.addTask { await self.post(fixture) }
          due += Self.interval
          try await Task.sleep(until: due, clock: .continuous)
        }
      }
    } catch {
      try await client.shutdown()
      throw error
    }
    try await client.shutdown()
  }

  /// Ends ``run(_:)``. Posts that wait for an answer still get it.
  func stop() { state.withLock { $0.isStopped = true } }

  private func post(_ fixture: NotificationFixture) async {
    let (fault, began) = state.withLock { ($0.tallies.count - 1, $0.began) }
    let body = Array(#"{"signedPayload":""#.utf8) + fixture.bytes + Array(#""}"#.utf8)
    let start = ContinuousClock.now
    var status = 0
    do {
      status = try await Web.post(body, to: url, with: client)
    } catch {
      // Counts as a post without an answer.
    }
    let end = ContinuousClock.now
    state.withLock { [status] state in
      state.tallies[fault].add(
        status, after: end - start, sinceFault: end - began, isLate: end - start > Self.deadline)
      if status == 200 { state.accepted.insert(fixture.id) }
    }
  }
}
