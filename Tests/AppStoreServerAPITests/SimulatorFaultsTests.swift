// Every fault that the simulator can inject, as a caller of our client meets it: over sockets, and what became of it at
// the other end.

import AppStore
import AppStoreSimulator
import Clocks
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct SimulatorFaultsTests {
  private static let request = ExtendRenewalDateRequest(
    extendByDays: 7, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: "campaign/1")

  /// A subscription, and a client for it.
  private struct Caller {
    let store: SimulatedStore
    let client: AppStoreServerClient
    let id: Int64

    init(_ store: SimulatedStore, budget: APIBudget? = nil) throws {
      self.store = store
      client = try store.client(budget: budget)
      id = try store.buy()
    }

    func read() async throws(APIError) { _ = try await client.getTransactionInfo(String(id), in: .production) }

    func extend() async throws(APIError) {
      _ = try await client.extendSubscriptionRenewalDate(
        String(id), SimulatorFaultsTests.request, in: .production)
    }

    /// The errors of one call that reads and of one that has an effect.
    func failures() async throws -> (read: APIError, extend: APIError) {
      (
        try #require(await apiError { () async throws(APIError) in try await read() }),
        try #require(await apiError { () async throws(APIError) in try await extend() })
      )
    }
  }

  private static let serverErrors: [(JSONObject, Int, Int64?, ErrorClass)] = [
    (["effect": "outage"], 503, nil, .retryLater),
    (["effect": "status", "status": 502, "body": "html"], 502, nil, .retryNow),
    (["effect": "status", "status": 500], 500, nil, .retryLater),
    (["effect": "status", "status": 500, "body": "json"], 500, 5_000_000, .retryLater),
    (["effect": "status", "status": 500, "body": "json", "errorCode": 5_000_001], 500, 5_000_001, .retryNow),
  ]

  @Test(arguments: serverErrors)
  func `A 5xx, with and without Apple's JSON, says when to try again`(
    fault: JSONObject, status: Int, code: Int64?, expected: ErrorClass
  ) async throws {
    try await SimulatedStore.running { store in
      let caller = try Caller(store)
      let fault = try store.inject(fault)
      let errors = try await caller.failures()
      for error in [errors.read, errors.extend] {
        #expect(error.kind == .refused && error.status == status && error.errorClass == expected)
        #expect(error.code?.rawValue == code)
      }
      #expect(!errors.read.isUnclear && errors.extend.isUnclear)
      #expect(try store.extensions(of: caller.id) == 0)
      #expect(store.simulator.services.removeFault(fault))
      try await caller.extend()
      #expect(try store.extensions(of: caller.id) == 1)
      #expect(store.simulator.report.api.broken.isEmpty)
    }
  }

  @Test func `An outage lasts from its beginning to its end`() async throws {
    try await SimulatedStore.running { store in
      let caller = try Caller(store)
      try store.inject(["effect": "outage", "after": "10m", "for": "20m"])
      try await caller.read()
      store.manual.advance(by: .seconds(600))
      #expect(try await caller.failures().read.status == 503)
      store.manual.advance(by: .seconds(1_199))
      #expect(try await caller.failures().extend.errorClass == .retryLater)
      store.manual.advance(by: .seconds(1))
      try await caller.extend()
    }
  }

  @Test(arguments: ["milliseconds", "seconds", "date", "absent"])
  func `A 429 pauses the budget until the time it names, in whatever form, and nothing is sent before`(
    form: String
  ) async throws {
    try await SimulatedStore.running { store in
      let budget = store.generousBudget
      let caller = try Caller(store, budget: budget)
      var fault: JSONObject = ["effect": "tooManyRequests", "retryAfterForm": .string(form), "count": 1]
      if form != "absent" { fault["retryAfter"] = "90s" }
      try store.inject(fault)
      let until = store.clock.wallTime + (form == "absent" ? APIBudget.pauseWithoutTime : .seconds(90))
      let error = try #require(await apiError { () async throws(APIError) in try await caller.extend() })
      #expect(error.kind == .rateLimited && error.errorClass == .retryLater && error.status == 429)
      #expect(error.retryAt == until && !error.isUnclear)
      let early = try #require(await apiError { () async throws(APIError) in try await caller.extend() })
      #expect(early.kind == .budget && early.retryAt == until)
      #expect(store.asked(.extendSubscriptionRenewalDate)?.count == 1)
      // Another endpoint has a budget of its own.
      try await caller.read()
      store.manual.advance(by: until - store.clock.wallTime)
      try await caller.extend()
      #expect(try store.extensions(of: caller.id) == 1)
      #expect(store.simulator.report.api.broken.isEmpty)
    }
  }

  @Test func `One 401 is answered with a fresh token; two say what to look at`() async throws {
    try await SimulatedStore.running { store in
      let caller = try Caller(store)
      try store.inject(["effect": "unauthorized", "count": 1])
      try await caller.extend()
      #expect(store.asked(.extendSubscriptionRenewalDate)?.byStatus == [401: 1, 200: 1])
      try store.inject(["effect": "unauthorized"])
      let errors = try await caller.failures()
      for error in [errors.read, errors.extend] {
        guard case .unauthorized(let refusal) = error.kind else {
          Issue.record("\(error)")
          continue
        }
        #expect(refusal.keyIds == [Scenario.madeKey.keyId] && refusal.bundleId == SimulatedStore.bundleId)
        #expect(error.errorClass == .configuration && !error.isUnclear && error.status == 401)
      }
      #expect(store.asked(.getTransactionInfo)?.byStatus == [401: 2])
      #expect(try store.extensions(of: caller.id) == 1)
    }
  }

  @Test func `A reset connection leaves open whether something happened, and it did not`() async throws {
    try await SimulatedStore.running { store in
      let caller = try Caller(store)
      try store.inject(["effect": "connectionReset", "count": 2])
      let errors = try await caller.failures()
      for error in [errors.read, errors.extend] {
        #expect(error.kind.isTransport && error.errorClass == .retryNow && error.status == nil, "\(error)")
      }
      #expect(!errors.read.isUnclear && errors.extend.isUnclear)
      #expect(try store.extensions(of: caller.id) == 0)
      try await caller.extend()
      #expect(try store.extensions(of: caller.id) == 1)
    }
  }

  @Test(arguments: [0.1, 0.5, 0.99])
  func `A truncated body is no answer, and of a call with an effect it is unclear though Apple said yes`(
    keeping: Double
  ) async throws {
    try await SimulatedStore.running { store in
      let caller = try Caller(store)
      try store.inject(["effect": "truncatedBody", "keeping": .number("\(keeping)"), "count": 2])
      let errors = try await caller.failures()
      for error in [errors.read, errors.extend] {
        #expect(error.kind.isUndecodable && error.errorClass == .retryNow && error.status == 200, "\(error)")
      }
      #expect(!errors.read.isUnclear && errors.extend.isUnclear)
      #expect(try store.extensions(of: caller.id) == 1)
    }
  }

  @Test(arguments: [("everything", 1), ("successes", 1), ("nothing", 2)])
  func `An answer that is lost after the effect: the same request again is safe if Apple remembers it`(
    memory: String, extensions: Int
  ) async throws {
    try await SimulatedStore.running("server: { remembers: \(memory) }\n") { store in
      let caller = try Caller(store)
      try store.inject(["effect": "answerLost", "count": 1])
      let error = try #require(await apiError { () async throws(APIError) in try await caller.extend() })
      #expect(error.kind.isTransport && error.isUnclear && error.errorClass == .retryNow)
      #expect(try store.extensions(of: caller.id) == 1)
      try await caller.extend()
      #expect(try store.extensions(of: caller.id) == extensions)
      let broken = store.simulator.report.api.broken.map(\.rule)
      #expect(broken == (extensions == 1 ? [] : [.effectRepeated]))
    }
  }

  @Test func `Latency beyond the deadline ends the call, and leaves open what came of it`() async throws {
    try await SimulatedStore.running { store in
      let caller = try Caller(store)
      try store.inject(["effect": "latency", "delay": "60s"])
      async let failing = apiError { () async throws(APIError) in try await caller.extend() }
      while store.simulator.services.struck == 0 { await Task.yield() }
      store.manual.advance(by: .seconds(30))
      let error = try #require(await failing)
      #expect(error.kind == .deadline && error.errorClass == .retryNow && error.isUnclear)
      // Rightly so: Apple does at last what nobody waits for any more.
      while try store.extensions(of: caller.id) == 0 {
        store.manual.advance(by: .seconds(60))
        await Task.yield()
      }
    }
  }
}

extension APIError.Kind {
  fileprivate var isTransport: Bool { if case .transport = self { true } else { false } }
  fileprivate var isUndecodable: Bool { if case .undecodable = self { true } else { false } }
}
