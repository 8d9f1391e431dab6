// Tests `/livez` of a worker, which checks only that the executor and the poll loops of its groups run.

import AppStore
import MillraceTime
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceCore
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct WorkerLivenessTests {
  private static let limit = Int(Heartbeat.limit / .seconds(1))

  /// A worker of a process. The test drives its poll loop.
  private struct Worker {
    let fleet: WorkerFleet
    let log: InMemoryLog
    let pump: LogWatch
    let runtime: WorkerRuntime

    init(_ time: ManualClock, _ handler: FleetHandler = FleetHandler(Book())) throws {
      fleet = try WorkerFleet(lanes: 2, time: time)
      log = fleet.log.process("p")
      pump = LogWatch(clock: fleet.clock)
      runtime = fleet.runtime(on: WatchedLog(log: log, watch: pump), handler)
    }

    func start() -> FleetProcess { FleetProcess(log: log, isKept: false) { [runtime] _ in runtime } }
  }

  /// Advances time second by second while the executor and these poll loops run.
  private func pass(_ seconds: Int, _ time: ManualClock, _ heartbeat: Heartbeat, turning pumps: [LogWatch]) async {
    for _ in 0..<seconds {
      time.advance(by: .seconds(1))
      heartbeat.beat()
      for pump in pumps { pump.turn() }
      for _ in 0..<40 { await Task.yield() }
    }
  }

  private func ill(_ heartbeat: Heartbeat) -> [String] {
    heartbeat.report().entries.filter { !$0.outcome.isHealthy }.map(\.name)
  }

  @Test func `a worker whose poll loop is blocked is not live after the limit until the loop runs`() async throws {
    let time = ManualClock()
    let worker = try Worker(time)
    let (fleet, pump) = (worker.fleet, worker.pump)
    let heartbeat = Heartbeat(
      clock: time.clock, pumps: WorkerProcess.pumps(of: [(name: "mill", runtime: worker.runtime)]))
    await pass(60, time, heartbeat, turning: [])
    #expect(heartbeat.report().entries.map(\.name) == ["executor"] && ill(heartbeat).isEmpty, "not started yet")
    let process = worker.start()
    #expect(await fleet.until { worker.runtime.readiness.isReady } != nil)
    await pass(60, time, heartbeat, turning: [pump])
    #expect(heartbeat.report().entries.map(\.name) == ["executor", "pump-mill"] && ill(heartbeat).isEmpty)
    await pass(Self.limit, time, heartbeat, turning: [])
    #expect(ill(heartbeat).isEmpty, "liveness failed before the limit")
    await pass(1, time, heartbeat, turning: [])
    #expect(ill(heartbeat) == ["pump-mill"])
    #expect(worker.runtime.readiness.isReady, "readiness must not depend on the poll loop")
    await pass(60, time, heartbeat, turning: [])
    #expect(ill(heartbeat) == ["pump-mill"])
    pump.turn()
    #expect(ill(heartbeat).isEmpty)
    try fleet.put("n", key: "k")
    #expect(await fleet.until(within: .seconds(10)) { fleet.answered() == ["n"] } != nil)
    await process.crash()
    await pass(60, time, heartbeat, turning: [])
    #expect(ill(heartbeat).isEmpty, "leaving the group must not count as a blocked loop")
  }

  @Test func `the worker with the blocked poll loop is named`() async throws {
    let time = ManualClock()
    let workers = try [Worker(time), Worker(time)]
    let heartbeat = Heartbeat(
      clock: time.clock,
      pumps: WorkerProcess.pumps(of: zip(["one", "two"], workers).map { (name: $0, runtime: $1.runtime) }))
    let processes = workers.map { $0.start() }
    #expect(await workers[0].fleet.until { workers.allSatisfy { $0.runtime.readiness.isReady } } != nil)
    await pass(Self.limit + 1, time, heartbeat, turning: [workers[0].pump])
    #expect(ill(heartbeat) == ["pump-two"])
    await pass(Self.limit + 1, time, heartbeat, turning: [workers[1].pump])
    #expect(ill(heartbeat) == ["pump-one"])
    for process in processes { await process.crash() }
  }

  @Test func `a worker is live while its poll loop runs, even if lanes do not start or handlers hang`()
    async throws
  {
    let time = ManualClock()
    let book = Book()
    let worker = try Worker(
      time,
      FleetHandler(book) { _, _ in
        try await time.clock.sleep(until: time.clock.now.advanced(by: .seconds(86_400)))
        return .ignore
      })
    let heartbeat = Heartbeat(
      clock: time.clock, pumps: WorkerProcess.pumps(of: [(name: "mill", runtime: worker.runtime)]))
    let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)
    worker.log.fail(.committed, with: Array(repeating: away, count: 100))
    let process = worker.start()
    var seconds = 0
    while !worker.runtime.readiness.isReady, seconds < 3_600 {
      await pass(1, time, heartbeat, turning: [worker.pump])
      seconds += 1
      if !ill(heartbeat).isEmpty { break }
    }
    #expect(seconds > 2 * Self.limit, "the lanes started too early for this test")
    #expect(worker.runtime.readiness.isReady && ill(heartbeat).isEmpty, "after \(seconds) s")
    try worker.fleet.put("n", key: "k")
    // Longer than the liveness limit, shorter than the handler timeout.
    await pass(45, time, heartbeat, turning: [worker.pump])
    #expect(book.runs["n"] == 1 && worker.fleet.answered().isEmpty && ill(heartbeat).isEmpty)
    await process.crash()
  }

  @Test func `a worker on Kafka reports the age of its last poll while it runs`() async throws {
    let cluster = try await WorkerCluster(.embedded)
    let instance = try await cluster.start()
    try await cluster.events(for: try await cluster.receive(.didRenew))
    #expect(instance.runtime.sinceLastTurn != nil)
    try await instance.leave()
    #expect(instance.runtime.sinceLastTurn == nil)
  }
}
