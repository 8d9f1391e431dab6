import MillraceWorker
import Testing

@testable import Ingress

@Suite struct SendHealthTests {
  /// The arguments: the times of successful writes, of failed writes and of the check, in seconds, and the result.
  @Test(
    arguments: [
      ([], [], 0, false), ([], [0], 1, true), ([], [0], 16, false), ([0], [1], 2, false), ([0], [1, 15], 17, true),
      ([0, 18], [1, 15], 19, false), ([0], [], 60, false),
    ] as [([Int], [Int], Int, Bool)])
  func `failed writes without a success count as failing until they expire`(
    successes: [Int], failures: [Int], now: Int, isFailing: Bool
  ) {
    let start = ContinuousClock.now
    var history = SendHistory()
    for second in successes { history.succeeded(at: start + .seconds(second)) }
    for second in failures { history.failed(at: start + .seconds(second)) }
    #expect(history.isFailing(at: start + .seconds(now)) == isFailing)
  }

  @Test func `the readiness check fails while writes fail`() async throws {
    let health = SendHealth()
    #expect(try await health.check.run().isHealthy)
    health.failed()
    let outcome = try await health.check.run()
    #expect(!outcome.isHealthy)
    health.succeeded()
    #expect(try await health.check.run().isHealthy)
  }
}
