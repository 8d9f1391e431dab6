// How much of Apple's budget a run uses. Time is virtual: it passes when every slot of the run waits for something, so the
// figure speaks of the run and not of the machine.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import Clocks
import Kafka
import Millrace
import Synchronization
import Testing

@testable import Operations

@Suite("The budget of a run", .timeLimit(.minutes(15)))
struct BackfillBudgetTests {
  /// Answers every question with one page after a time, and always has another.
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

    /// Calls whose answer comes with time; nil where one is due that has not been noticed yet.
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

  @Test("95 % of it and more: production, 50 requests a second, of which Millrace has 0.8")
  func use() async throws {
    let stage = try BackfillStage()
    let fixture = try Fixture()
    let jws = String(decoding: try fixture.sample(.test).jws, as: UTF8.self)
    let budget = APIBudget(limits: .documented, share: 0.8, part: BackfillOperation.budgetPart, clock: stage.clock)
    // One item of the twenty that a page can have: what is measured are questions, not this machine's verification.
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
      // Every slot waits for its turn or for Apple.
      try await stage.until { history.waiting.map { budget.isAtRest(callers: slots - $0) } ?? false }
      stage.time.advance(by: .milliseconds(5))
    }
    // The burst of the first second is no pace.
    while history.calls < 100 { try await step() }
    let (start, before) = (stage.clock.now, history.calls)
    while start.duration(to: stage.clock.now) < .seconds(20) { try await step() }
    let took = start.duration(to: stage.clock.now) / .seconds(1)
    let perSecond = Double(history.calls - before) / took
    running.cancel()
    // Whoever waits in line is woken by its cancellation.
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
