// What `/livez` of a worker says: that the executor and the pumps of its groups turn, and nothing else.

import AppStore
import Clocks
import Kafka
import MillraceTesting
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct WorkerLivenessTests {
  private static let limit = Int(Heartbeat.limit / .seconds(1))

  /// One worker of a process; the test turns the pump of its group.
  private struct Worker {
    let mill: Mill
    let log: InMemoryLog
    let pump: LogWatch
    let runtime: WorkerRuntime

    init(_ time: ManualClock, _ handler: MillHandler = MillHandler(Book())) throws {
      mill = try Mill(lanes: 2, time: time)
      log = mill.log.process("p")
      pump = LogWatch(clock: mill.clock)
      runtime = mill.runtime(on: WatchedLog(log: log, watch: pump), handler)
    }

    func start() -> MillProcess { MillProcess(log: log, isKept: false) { [runtime] _ in runtime } }
  }

  /// Lets time pass, second by second, in which the executor turns, and these pumps.
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

  @Test func `a worker whose pump stands still is not live after the limit, and live again when it turns`() async throws
  {
    let time = ManualClock()
    let worker = try Worker(time)
    let (mill, pump) = (worker.mill, worker.pump)
    let heartbeat = WorkerProcess.heartbeat(of: [(name: "mill", runtime: worker.runtime)], clock: time.clock)
    await pass(60, time, heartbeat, turning: [])
    #expect(heartbeat.report().entries.map(\.name) == ["executor"] && ill(heartbeat).isEmpty, "it was not begun yet")
    let process = worker.start()
    #expect(await mill.until { worker.runtime.readiness.isReady } != nil)
    await pass(60, time, heartbeat, turning: [pump])
    #expect(heartbeat.report().entries.map(\.name) == ["executor", "pump-mill"] && ill(heartbeat).isEmpty)
    await pass(Self.limit, time, heartbeat, turning: [])
    #expect(ill(heartbeat).isEmpty, "before its time")
    await pass(1, time, heartbeat, turning: [])
    #expect(ill(heartbeat) == ["pump-mill"])
    #expect(worker.runtime.readiness.isReady, "what it has is one thing, whether it turns another")
    await pass(60, time, heartbeat, turning: [])
    #expect(ill(heartbeat) == ["pump-mill"])
    pump.turn()
    #expect(ill(heartbeat).isEmpty)
    try mill.put("n", key: "k")
    #expect(await mill.until(within: .seconds(10)) { mill.answered() == ["n"] } != nil)
    await process.crash()
    await pass(60, time, heartbeat, turning: [])
    #expect(ill(heartbeat).isEmpty, "a group that was left is no pump that hangs")
  }

  @Test func `of several workers in a process the one whose pump stands still is named`() async throws {
    let time = ManualClock()
    let workers = try [Worker(time), Worker(time)]
    let heartbeat = WorkerProcess.heartbeat(
      of: zip(["one", "two"], workers).map { (name: $0, runtime: $1.runtime) }, clock: time.clock)
    let processes = workers.map { $0.start() }
    #expect(await workers[0].mill.until { workers.allSatisfy { $0.runtime.readiness.isReady } } != nil)
    await pass(Self.limit + 1, time, heartbeat, turning: [workers[0].pump])
    #expect(ill(heartbeat) == ["pump-two"])
    await pass(Self.limit + 1, time, heartbeat, turning: [workers[1].pump])
    #expect(ill(heartbeat) == ["pump-one"])
    for process in processes { await process.crash() }
  }

  @Test func `a worker that cannot start its lanes, or whose handler hangs, is live as long as its pump turns`()
    async throws
  {
    let time = ManualClock()
    let book = Book()
    let worker = try Worker(
      time,
      MillHandler(book) { _, _ in
        try await time.clock.sleep(until: time.clock.now.advanced(by: .seconds(86_400)))
        return .ignore
      })
    let heartbeat = WorkerProcess.heartbeat(of: [(name: "mill", runtime: worker.runtime)], clock: time.clock)
    let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)
    worker.log.fail(.committed, with: Array(repeating: away, count: 100))
    let process = worker.start()
    var seconds = 0
    while !worker.runtime.readiness.isReady, seconds < 3_600 {
      await pass(1, time, heartbeat, turning: [worker.pump])
      seconds += 1
      if !ill(heartbeat).isEmpty { break }
    }
    #expect(seconds > 2 * Self.limit, "its lanes were to start late")
    #expect(worker.runtime.readiness.isReady && ill(heartbeat).isEmpty, "after \(seconds) s")
    try worker.mill.put("n", key: "k")
    // Longer than the limit, and shorter than its own.
    await pass(45, time, heartbeat, turning: [worker.pump])
    #expect(book.runs["n"] == 1 && worker.mill.answered().isEmpty && ill(heartbeat).isEmpty)
    await process.crash()
  }

  @Test func `what a worker on Kafka says of its pump is there while it works and gone when it left`() async throws {
    let cluster = try await WorkerCluster(.embedded)
    let instance = try await cluster.start()
    try await cluster.events(for: try await cluster.receive(.didRenew))
    #expect(instance.runtime.sinceLastTurn != nil)
    try await instance.leave()
    #expect(instance.runtime.sinceLastTurn == nil)
  }
}
