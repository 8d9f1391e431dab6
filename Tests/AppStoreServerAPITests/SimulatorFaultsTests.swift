// Injects every fault of the simulator and checks, over sockets, the caller's error and the effect in the simulator.

import AppStore
import AppStoreSimulator
import MillraceTime
import TestEnvironment
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct SimulatorFaultsTests {
  private static let request = ExtendRenewalDateRequest(
    extendByDays: 7, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: "campaign/1")

  /// A subscription and a client.
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

    /// The errors of a reading call and of a call with an effect.
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
  func `a 5xx, with or without Apple's JSON, says when to try again`(
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

  @Test func `an outage lasts from its start to its end`() async throws {
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
  func `a 429 in any form pauses the budget until its time, and nothing is sent before`(
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
      // Another endpoint has its own budget.
      try await caller.read()
      store.manual.advance(by: until - store.clock.wallTime)
      try await caller.extend()
      #expect(try store.extensions(of: caller.id) == 1)
      #expect(store.simulator.report.api.broken.isEmpty)
    }
  }

  @Test func `one 401 leads to a new token, and two to an error with the possible causes`() async throws {
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

  @Test func `a reset connection leaves the effect unclear, although nothing happened`() async throws {
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
  func `a truncated body is an error, and leaves an effect unclear although Apple accepted it`(
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
  func `after a lost response, the same request is safe if Apple remembers it`(
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

  @Test func `latency beyond the deadline ends the call, and leaves its effect unclear`() async throws {
    try await SimulatedStore.running { store in
      let caller = try Caller(store)
      try store.inject(["effect": "latency", "delay": "60s"])
      async let failing = apiError { () async throws(APIError) in try await caller.extend() }
      try await waitUntil(store.simulator.services.struck > 0)
      store.manual.advance(by: .seconds(30))
      let error = try #require(await failing)
      #expect(error.kind == .deadline && error.errorClass == .retryNow && error.isUnclear)
      // Unclear is correct: Apple processes the request after the caller has given up.
      func isExtended() throws -> Bool {
        store.manual.advance(by: .seconds(60))
        return try store.extensions(of: caller.id) > 0
      }
      try await waitUntil(isExtended())
    }
  }
}

extension APIError.Kind {
  fileprivate var isTransport: Bool { if case .transport = self { true } else { false } }
  fileprivate var isUndecodable: Bool { if case .undecodable = self { true } else { false } }
}
