// Measures how much of Apple's budget a backfill uses. Time is virtual and advances only when every slot of the run
// waits, so the result does not depend on the machine.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceWorker
import Synchronization
import Testing

@testable import Operations

@Suite("The budget of a backfill", .timeLimit(.minutes(15)))
struct BackfillBudgetTests {
  /// Answers every request with one page after a delay. There is always a next page.
  private final class EndlessHistory: HTTPExchange {
    private let clock: MillraceClock
    private let latency: Duration
    private let body: @Sendable (Int) -> [UInt8]
    private let state = Mutex((calls: 0, due: [Int: MillraceClock.Instant]()))

    init(_ clock: MillraceClock, latency: Duration, body: @escaping @Sendable (Int) -> [UInt8]) {
      self.clock = clock
      self.latency = latency
      self.body = body
    }

    var calls: Int { state.withLock(\.calls) }

    /// The number of calls that wait for their response; nil if a response is due and not yet processed.
    var waiting: Int? {
      let now = clock.now
      return state.withLock { state in state.due.values.allSatisfy { $0 > now } ? state.due.count : nil }
    }

    func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
      let due = clock.now.advanced(by: latency)
      let call = state.withLock { state in
        state.calls += 1
        state.due[state.calls] = due
        return state.calls
      }
      defer { state.withLock { $0.due[call] = nil } }
      do {
        try await clock.sleep(until: due)
      } catch {
        throw TransportFailure("cancelled", .notSent, isCancellation: true)
      }
      return ExchangeAnswer(status: 200, headers: ["Content-Type": "application/json"], body: body(call))
    }
  }

  @Test("a backfill uses at least 95 % of its budget, which is 0.8 of production's 50 requests per second")
  func use() async throws {
    let stage = try BackfillStage()
    let fixture = try Fixture()
    let jws = String(decoding: try fixture.sample(.test).jws, as: UTF8.self)
    let budget = APIBudget(limits: .documented, share: 0.8, part: BackfillOperation.budgetPart, clock: stage.clock)
    // A page can have twenty items. One is enough, because the test measures requests and not verification.
    let history = EndlessHistory(stage.clock, latency: .milliseconds(250)) { call in
      var page = JSONObject()
      page["paginationToken"] = .string("\(call)")
      page["hasMore"] = true
      page["notificationHistory"] = [["signedPayload": .string(jws)]]
      return page.serialized()
    }
    let apps = [try APIApp(app: nil, environment: nil, in: stage.configuration)]
    var parts = try stage.parts()
    parts.clients = try APIAccess.clients(
      of: apps, stage.configuration, verifier: stage.verifier, exchange: history, budget: budget, clock: stage.clock)
    parts.parallel = 32
    let operation = BackfillOperation(parts) { _ in }
    let selection = BackfillSelection(
      targets: stage.targets, from: stage.now - .seconds(86_400), to: stage.now)
    let begun = try await operation.start(selection, sliceLength: .seconds(1_800), by: "ann")
    let running = Task { try await operation.carryOut(begun) }
    let slots = 32
    func step() async throws {
      // Every parallel request waits for the budget or for Apple.
      try await stage.until { history.waiting.map { budget.isAtRest(callers: slots - $0) } ?? false }
      stage.time.advance(by: .milliseconds(5))
    }
    // Ignore the burst of the first second.
    while history.calls < 100 { try await step() }
    let (start, before) = (stage.clock.now, history.calls)
    while start.duration(to: stage.clock.now) < .seconds(20) { try await step() }
    let took = start.duration(to: stage.clock.now) / .seconds(1)
    let perSecond = Double(history.calls - before) / took
    running.cancel()
    // The cancellation wakes the callers that wait for a slot.
    _ = await running.result
    let share = perSecond / (50 * 0.8)
    print(
      """
      backfill: \(history.calls - before) questions in \(took) s of virtual time, \((perSecond * 100).rounded() / 100) a \
      second: \((share * 1_000).rounded() / 10) % of the budget, \(Int(perSecond * 20)) notifications a second
      """)
    #expect(share >= 0.95 && share <= 1)
  }
}
