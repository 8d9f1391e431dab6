import MillraceTime
import Synchronization
import Testing

@testable import MillraceCore

@Suite struct ReadinessBoardTests {
  /// Counts the runs of a check and blocks gated runs.
  private final class Probe: Sendable {
    let asked = Mutex(0)
    let gate = AsyncStream.makeStream(of: Void.self)

    var count: Int { asked.withLock { $0 } }

    func check(_ outcome: CheckOutcome = .healthy("fine"), gated: Bool = false) -> ReadinessCheck {
      ReadinessCheck("probe", remedy: "look") {
        self.asked.withLock { $0 += 1 }
        // Ignores cancellation, like a call into a blocking library.
        if gated { await Task { for await _ in self.gate.stream { break } }.value }
        return outcome
      }
    }
  }

  private static func board(_ checks: [ReadinessCheck], _ manual: ManualClock) -> ReadinessBoard {
    ReadinessBoard(checks, clock: manual.clock, timeout: .seconds(3), maxAge: .seconds(5))
  }

  @Test func `A recent report is reused`() async {
    let manual = ManualClock()
    let probe = Probe()
    let board = Self.board([probe.check()], manual)
    for _ in 0..<10 { #expect(await board.report().isHealthy) }
    #expect(probe.count == 1)
    manual.advance(by: .seconds(5))
    _ = await board.report()
    #expect(probe.count == 2)
  }

  @Test func `Concurrent probes run a check once`() async {
    let manual = ManualClock()
    let probe = Probe()
    let board = Self.board([probe.check(gated: true)], manual)
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { await board.report().isHealthy } }
      await manual.waitForSleepers()
      probe.gate.continuation.yield()
      for await isHealthy in group { #expect(isHealthy) }
    }
    #expect(probe.count == 1)
  }

  @Test func `A check that does not answer in time is unhealthy and names its remedy`() async {
    let manual = ManualClock()
    let probe = Probe()
    let board = Self.board([probe.check(gated: true)], manual)
    async let report = board.report()
    await manual.waitForSleepers()
    manual.advance(by: .seconds(3))
    let outcome = await report.entries.first?.outcome
    #expect(outcome == .unhealthy("no answer within 3s", remedy: "look"))
    probe.gate.continuation.finish()
  }

  @Test func `A check that is still running is not started again`() async {
    let manual = ManualClock()
    let probe = Probe()
    let board = Self.board([probe.check(gated: true)], manual)
    async let first = board.report()
    await manual.waitForSleepers()
    manual.advance(by: .seconds(3))
    _ = await first
    manual.advance(by: .seconds(60))
    let second = await board.report()
    #expect(second.entries.first?.outcome.detail.contains("still no answer") == true)
    #expect(probe.count == 1)
    probe.gate.continuation.finish()
  }

  @Test func `A check that throws is unhealthy and the others still run`() async {
    struct Gone: Error, CustomStringConvertible { var description: String { "gone" } }
    let manual = ManualClock()
    let probe = Probe()
    let failing = ReadinessCheck("failing", remedy: "mend") { throw Gone() }
    let report = await Self.board([failing, probe.check()], manual).report()
    #expect(report.entries.map(\.name) == ["failing", "probe"])
    #expect(report.entries.map(\.outcome.isHealthy) == [false, true])
    #expect(report.entries.first?.outcome == .unhealthy("gone", remedy: "mend"))
  }

  @Test func `A draining process is not ready and runs no checks`() async {
    let manual = ManualClock()
    let probe = Probe()
    let board = Self.board([probe.check()], manual)
    await board.beginDraining()
    #expect(await !board.report().isHealthy)
    #expect(probe.count == 0)
  }
}
