import MillraceTime
import Testing

@testable import MillraceCore

@Suite struct HeartbeatTests {
  @Test func `A process is alive while its heartbeat is recent`() {
    let manual = ManualClock()
    let heartbeat = Heartbeat(clock: manual.clock)
    #expect(heartbeat.report().isHealthy)
    manual.advance(by: Heartbeat.limit)
    #expect(heartbeat.report().isHealthy)
    manual.advance(by: .milliseconds(1))
    #expect(!heartbeat.report().isHealthy)
    heartbeat.beat()
    #expect(heartbeat.report().isHealthy)
  }

  @Test func `The heartbeat runs every second until it is cancelled`() async throws {
    let manual = ManualClock()
    let heartbeat = Heartbeat(clock: manual.clock)
    let running = Task { try await heartbeat.run() }
    for _ in 0..<30 {
      await manual.waitForSleepers()
      manual.advance(by: Heartbeat.interval)
    }
    await manual.waitForSleepers()
    #expect(heartbeat.report().isHealthy)
    #expect(heartbeat.collector.collect().first?.value == 1)
    running.cancel()
    try await running.value
  }

  @Test func `a poll loop that is blocked fails liveness, and a loop that does not run is ignored`() {
    let ages: [(Duration?, Bool)] = [(nil, true), (.seconds(1), true), (.seconds(15), true), (.seconds(16), false)]
    for (age, isHealthy) in ages {
      let heartbeat = Heartbeat(clock: ManualClock().clock, pumps: [("worker", { age })])
      #expect(heartbeat.report().isHealthy == isHealthy, "\(String(describing: age))")
    }
  }
}
