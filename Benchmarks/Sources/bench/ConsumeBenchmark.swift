// Compares a worker's cost with librdkafka's, and measures the lateness of retries.
import AppStoreSignature
import ArgumentParser
import CConsumeLoop
import Foundation
import KafkaClient
import Logging
import MillraceWorker
@_spi(Measurement) import MillraceTesting
import Synchronization

struct ConsumeBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consume",
    abstract: """
      Compares a worker with an empty handler with a plain librdkafka loop in C. Also measures retry lateness, \
      and an app behind another.
      """,
    discussion: """
      Both read the same records from the same embedded cluster, in alternating order. The records are written before \
      a round. Records a second leave out its first three fifths, and the worker's time ends when everything is \
      committed. CPU time includes all threads of the process, from the first record of the round. The cost of \
      verification alone is measured with the same records on one core. The delay of an app behind another, whose \
      records wait for rate-limit slots, is measured with an in-memory log and a clock ten times as fast. \
      With KAFKA_BOOTSTRAP_SERVERS a worker also processes a backlog on that cluster, and another one restores its ledger.
      """)

  /// A part of the benchmark that can run on its own.
  enum Part: String, CaseIterable, ExpressibleByArgument {
    case large, small, verified, lateness, waiting, backlog
  }

  @OptionGroup var output: OutputOptions
  @Option(help: "The rounds for each kind of record.") var rounds = 7
  @Option(help: "The partitions; the embedded cluster keeps 5 MiB of each.") var lanes = 32
  @Option(help: "The retries for the lateness measurement.") var timers = 10_000
  @Option(help: "The retries that are due per second.") var timersPerSecond = 2_000
  @Option(help: "The records of the app that waits for Apple; kept in memory.")
  var waiting = 1_000_000
  @Option(help: "The records of the backlog on the cluster of KAFKA_BOOTSTRAP_SERVERS.") var backlog = 1_000_000
  @Option(help: "The bytes of a backlog record.") var backlogBytes = 1_000
  @Option(help: "The project's directory.") var project = "."
  @Option(help: "Run only this part; may be repeated.") var only: [Part] = []

  private static let topics: [WorkerTopics] = [
    WorkerTopics(worker: EmptyWorker.name, inputs: [], delays: EmptyWorker.policy.retryDelays, prefix: ""),
    WorkerTopics(worker: LateWorker.name, inputs: [], delays: LateWorker.policy.retryDelays, prefix: ""),
  ]

  func run() async throws {
    var report = ConsumeReport()
    let parts = only.isEmpty ? Part.allCases : only
    if parts.contains(.large) {
      report.results.append(
        try await compare("headers only", isVerified: false) { $0.unsigned(lanes * 250, bytes: 17_000) })
    }
    if parts.contains(.small) {
      report.results.append(
        try await compare("headers only", isVerified: false) { $0.unsigned(lanes * 3_000, bytes: 1_000) })
    }
    if parts.contains(.verified) {
      report.results.append(try await compare("verified", isVerified: true) { try await $0.signed(lanes * 220) })
    }
    if parts.contains(.lateness) { report.lateness = try await lateness() }
    if parts.contains(.waiting) { report.waiting = try await WaitingStage(lanes: 12).run(waiting) }
    if parts.contains(.backlog) {
      if let servers = BacklogStage.servers {
        report.backlog = try await BacklogStage(bootstrap: servers, lanes: 12, bytes: backlogBytes).run(backlog)
      } else {
        Self.logger.notice("skipped the backlog: set KAFKA_BOOTSTRAP_SERVERS to run it")
      }
    }
    print(output.json ? report.line : report.table)
  }

  private func startCluster() async throws -> ClusterProcess {
    try await ClusterProcess.start(
      project: project, extra: Self.topics.flatMap { $0.laneTopics + [$0.events] }, lanes: lanes)
  }

  // MARK: - Against the loop in C

  private func compare(
    _ name: String, isVerified: Bool, _ make: (inout ConsumeStage) async throws -> [ProducerRecord]
  ) async throws -> ConsumeResult {
    let cluster = try await startCluster()
    defer { cluster.stop() }
    var stage = try await ConsumeStage(bootstrap: cluster.bootstrap, lanes: lanes)
    let gate = Gate()
    let worker = try await MeasuredWorker(
      EmptyWorker.self, stage.configuration, EmptyWorker.policy,
      log: GatedLog(log: try await ConsumeStage.log(cluster.bootstrap, isBacklog: true), gate: gate),
      verifier: isVerified ? stage.verifier : nil, logger: Self.logger)
    var result = ConsumeResult(name: name)
    let filling = stage
    try await filling.producing {
      try await worker.running { _ in
        let loop = try CLoop(cluster.bootstrap, lanes: lanes)
        defer { loop.close() }
        // The first round warms up connections and code.
        for round in 0...rounds {
          let records = try await make(&stage)
          result.bytes = records.first?.value?.count ?? 0
          try await stage.fill(records)
          try await ConsumeStage.settle()
          let figures = try await self.round(
            records, loop, worker, gate, isLoopFirst: round.isMultiple(of: 2), isVerified ? stage : nil)
          if round > 0 { result.rounds.append(figures) }
          let cost = [figures.loopCPU, figures.workerCPU].map { Numbers.fixed($0, 1) }
          Self.logger.notice(
            """
            \(result.bytes) bytes, \(name), round \(round): C \(Int(figures.loop))/s, worker \(Int(figures.worker))/s; \
            \(cost[0]) and \(cost[1]) µs of CPU
            """)
        }
      }
    }
    return result
  }

  private func round(
    _ records: [ProducerRecord], _ loop: CLoop, _ worker: MeasuredWorker, _ gate: Gate, isLoopFirst: Bool,
    _ verifying: ConsumeStage?
  ) async throws -> ConsumeResult.Round {
    var inC: (perSecond: Double, cpu: Double) = (0, 0)
    if isLoopFirst { inC = try Self.measure(loop, records.count) }
    let verifyCPU = isLoopFirst ? try await verifying?.verify(records) : nil
    let ours = try await Self.measure(worker, gate, records.count)
    if !isLoopFirst { inC = try Self.measure(loop, records.count) }
    let verified = isLoopFirst ? verifyCPU : try await verifying?.verify(records)
    return ConsumeResult.Round(
      loop: inC.perSecond, loopCPU: inC.cpu * 1e6, worker: ours.perSecond, workerCPU: ours.cpu * 1e6,
      verifyCPU: verified.map { $0 * 1e6 / Double(records.count) })
  }

  private static func warmUp(_ count: Int) -> Int { count * 3 / 5 }

  /// - Returns: Records per second, and CPU seconds for each record.
  private static func measure(_ loop: CLoop, _ count: Int) throws -> (perSecond: Double, cpu: Double) {
    let cpu = CPUTime.ofProcess
    let perSecond = try loop.perSecond(count, warmUp: warmUp(count))
    return (perSecond, (CPUTime.ofProcess - cpu) / Double(count))
  }

  /// - Returns: Records per second, and CPU seconds for each record.
  private static func measure(
    _ worker: MeasuredWorker, _ gate: Gate, _ count: Int
  ) async throws -> (perSecond: Double, cpu: Double) {
    let before = EmptyWorker.handled.load(ordering: .relaxed)
    let cpu = CPUTime.ofProcess
    gate.open()
    let first = try await handled(before + warmUp(count))
    let start = ContinuousClock.now
    _ = try await handled(before + count)
    try await worker.untilQuiet()
    let measured = Double(before + count - first)
    let result = (measured / ((ContinuousClock.now - start) / .seconds(1)), (CPUTime.ofProcess - cpu) / Double(count))
    gate.shut()
    return result
  }

  /// Waits until this many records were handled.
  private static func handled(_ target: Int) async throws -> Int {
    let start = ContinuousClock.now
    while true {
      let handled = EmptyWorker.handled.load(ordering: .relaxed)
      if handled >= target { return handled }
      guard ContinuousClock.now - start < .seconds(120) else {
        throw BenchError("\(target - handled) records were not handled")
      }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  // MARK: - Retries

  private func lateness() async throws -> [Double] {
    let cluster = try await startCluster()
    defer { cluster.stop() }
    var stage = try await ConsumeStage(bootstrap: cluster.bootstrap, lanes: lanes)
    let worker = try await MeasuredWorker(
      LateWorker.self, stage.configuration, LateWorker.policy,
      log: try await ConsumeStage.log(cluster.bootstrap, isBacklog: false),
      verifier: nil, logger: Self.logger)
    let filling = stage
    try await filling.producing {
      try await worker.running { _ in
        let start = ContinuousClock.now
        let share = max(1, timersPerSecond / 10)
        for (turn, first) in stride(from: 0, to: timers, by: share).enumerated() {
          try await Task.sleep(until: start + .milliseconds(100) * turn, clock: .continuous)
          try await stage.fill(stage.unsigned(min(share, timers - first), bytes: 1_000))
        }
        while LateWorker.lateness.withLock({ $0.count }) < timers {
          try await Task.sleep(for: .milliseconds(20))
          guard ContinuousClock.now - start < .seconds(180) else { throw BenchError("retries are missing") }
        }
      }
    }
    return LateWorker.lateness.withLock { $0 }
  }

  static let logger: Logger = {
    var logger = Logger(label: "bench") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .notice
    return logger
  }()
}

extension MeasuredWorker {
  /// Runs a worker during `body`, which starts when all lanes run. Its argument is the time from the assignment to
  /// then, in which the lanes restored their ledgers.
  func running<Result>(_ body: (Duration) async throws -> Result) async throws -> Result {
    let work = Task { try await run() }
    defer { work.cancel() }
    let start = ContinuousClock.now
    var assigned: ContinuousClock.Instant?
    while !isReady {
      if assigned == nil, hasLanes { assigned = .now }
      guard ContinuousClock.now - start < .seconds(60) else {
        work.cancel()
        // The worker's own error, if it has one, explains more.
        try await work.value
        throw BenchError("the worker was assigned no lanes")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    let result = try await body(assigned.map { $0.duration(to: .now) } ?? .zero)
    work.cancel()
    _ = await work.result
    return result
  }

  /// Waits until everything that was read is committed.
  func untilQuiet() async throws {
    while !(await isQuiet()) { try await Task.sleep(for: .milliseconds(1)) }
  }
}

extension ConsumeStage {
  /// Verifies and decodes the records and does nothing else.
  /// - Returns: The CPU time in seconds.
  fileprivate func verify(_ records: [ProducerRecord]) async throws -> Double {
    let start = CPUTime.ofProcess
    for record in records { _ = try await verifier.verifyNotification(record.value ?? [], identity: identities) }
    return CPUTime.ofProcess - start
  }
}

/// The loop in C.
struct CLoop {
  private let loop: OpaquePointer

  init(_ bootstrap: String, lanes: Int) throws {
    var message = [CChar](repeating: 0, count: 512)
    guard
      let loop = consume_loop_new(
        bootstrap, ConsumeStage.topic, Int32(lanes), &message, 512)
    else { throw BenchError("the loop in C: " + Self.text(message)) }
    self.loop = loop
  }

  func perSecond(_ count: Int, warmUp: Int) throws -> Double {
    var message = [CChar](repeating: 0, count: 512)
    var elapsed: UInt64 = 0
    guard consume_loop_run(loop, count, warmUp, &elapsed, &message, 512) == 0 else {
      throw BenchError("the loop in C: " + Self.text(message))
    }
    return Double(count - warmUp) / (Double(elapsed) / 1e9)
  }

  func close() { consume_loop_free(loop) }

  private static func text(_ message: [CChar]) -> String {
    String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
