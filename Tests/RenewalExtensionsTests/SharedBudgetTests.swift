// Two workers call one endpoint of the simulated App Store. Each has its own lanes.

import AppStore
import AppStoreServerAPI
import MillraceTime
import MillraceCore
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Operations
@testable import RenewalExtensions

@Suite(.timeLimit(.minutes(15))) struct SharedBudgetTests {
  private static func entry(calls: [APIEndpoint]?) -> WorkerEntry {
    var entry = WorkerEntry()
    entry.calls = calls
    return entry
  }

  /// Apple's 20 per second, divided by 20, times the share of 0.8.
  private static let perSecond = 0.8

  @Test(arguments: [nil, [APIEndpoint.extendSubscriptionRenewalDate]])
  func `two workers that call one endpoint share one budget, and use it`(
    calls: [APIEndpoint]?
  ) async throws {
    let names = [RenewalExtensionsWorker.name, "support"]
    let rehearsal = try Rehearsal(
      workers: [names[0]: Self.entry(calls: nil), names[1]: Self.entry(calls: calls)], limitDivisor: 20)
    let ids = try rehearsal.subscribe(300)
    try await rehearsal.campaigns.append([.campaign(.sample(at: rehearsal.now))])
    try await rehearsal.running([names[0], names[1]]) {
      let now = rehearsal.now
      for id in ids {
        try rehearsal.world.withState { state throws(WorldError) in try state.failExtension(id, at: now) }
      }
      try rehearsal.deliver()
      await rehearsal.waitForWorkers()
      let before = rehearsal.extensionCalls
      let seconds = 300
      for _ in 0..<seconds {
        try rehearsal.pass(.seconds(1))
        await rehearsal.waitForWorkers(patience: .milliseconds(100))
      }
      let made = rehearsal.extensionCalls - before
      let allowed = Double(seconds) * Self.perSecond
      // Each worker may have one late and one early call.
      #expect(Double(made) <= allowed + 4, "\(made) calls, \(allowed) allowed")
      #expect(Double(made) >= allowed * 0.8, "\(made) calls, \(allowed) allowed")
    }
  }
}
