// Processes of one worker, as users run them: their cost for a notification, and the pause of their lanes when one is
// killed.
import AppStore
import AppStoreSigning
import Foundation
import KafkaClient

struct WorkerProcesses {
  let bootstrap: String
  let directory: String
  let project: String
  var program = "millrace-subscriptions"
  /// The entry under `workers` in YAML.
  var entry = "subscriptions: {}"

  private static let lanes = 12
  /// The lanes whose ledgers a process has restored. It then runs them.
  private static let restored = "millrace_worker_ledger_restore_duration_seconds_count"
  private let prefix = "bench-\(UUID().uuidString.prefix(8).lowercased())."

  init(bootstrap: String, directory: String, project: String) {
    (self.bootstrap, self.directory, self.project) = (bootstrap, directory, project)
  }

  /// The topic with the notifications.
  var input: String { prefix + ConsumeStage.topic }

  /// Writes signed notifications, each of its own subscription, and measures the process from a fifth of them to the end.
  /// - Parameter use: Receives the chain that signs the notifications.
  func cost(_ count: Int, use: (SigningChain) throws -> Void = { _ in }) async throws -> PeerCost {
    var stage = try await ConsumeStage(bootstrap: bootstrap, lanes: Self.lanes, prefix: prefix)
    try use(stage.chain)
    let place = try prepare(root: stage.chain.rootDER)
    var batches: [[ProducerRecord]] = []
    for first in stride(from: 0, to: count, by: 12_000) {
      batches.append(try await stage.signed(min(12_000, count - first)))
    }
    let worker = try Worker(place, number: 0)
    defer { worker.process.stop() }
    try await worker.wait(for: Self.restored, atLeast: Self.lanes)
    let filling = stage
    // Beside the measurement: a quick worker has handled everything when the last record is written.
    let records = batches
    async let filled: Void = filling.producing { for batch in records { try await filling.fill(batch) } }
    try await worker.wait(for: "millrace_worker_records_total", atLeast: count / 5)
    let (start, cpu, first) = (
      ContinuousClock.now, worker.process.cpuSeconds, try worker.sum(of: "millrace_worker_records_total")
    )
    try await worker.wait(for: "millrace_worker_records_total", atLeast: count)
    try await filled
    guard first < count else { throw BenchError("\(program) handled \(count) records before it was measured") }
    let handled = Double(count - first)
    return PeerCost(
      perSecond: handled / ((ContinuousClock.now - start) / .seconds(1)),
      cpu: (worker.process.cpuSeconds - cpu) / handled * 1e6)
  }

  /// The cost of a number of subscriptions.
  struct Cost {
    /// The seconds from the start of one process until all lanes run.
    var start: Double
    /// Its peak memory.
    var peakMiB: Double
    /// The seconds until the lanes of one of two processes run again, after SIGKILL and an immediate restart.
    var pause: Double
  }

  /// Writes a ledger with this many subscriptions, and measures processes that own them.
  func own(_ count: Int) async throws -> Cost {
    let stage = try await ConsumeStage(bootstrap: bootstrap, lanes: Self.lanes, prefix: prefix)
    let place = try prepare(root: stage.chain.rootDER)
    let ledger = prefix + "millrace.subscriptions.ledger"
    try await stage.producing {
      for first in stride(from: 0, to: count, by: 100_000) {
        try await stage.fill(
          stage.subscriptions(of: ledger, first..<min(count, first + 100_000)), atOnce: 50_000)
      }
    }
    var start = ContinuousClock.now
    var workers = [try Worker(place, number: 0)]
    defer { for worker in workers { worker.process.stop() } }
    try await workers[0].wait(for: Self.restored, atLeast: Self.lanes)
    var cost = Cost(
      start: (ContinuousClock.now - start) / .seconds(1), peakMiB: workers[0].process.peakMemory / 1_048_576, pause: 0)
    workers.append(try Worker(place, number: 1))
    try await workers[1].wait(for: Self.restored, atLeast: Self.lanes / 2)
    start = .now
    kill(workers[0].process.pid, SIGKILL)
    workers[0].process.stop()
    workers[0] = try Worker(place, number: 0)
    try await workers[0].wait(for: Self.restored, atLeast: Self.lanes / 2)
    cost.pause = (ContinuousClock.now - start) / .seconds(1)
    return cost
  }

  // MARK: - The processes

  private struct Place {
    var program: String
    var configuration: String
    var log: String
  }

  /// Creates the topics.
  private func prepare(root: [UInt8]) throws -> Place {
    let name = directory + "/" + prefix
    try Data(root).write(to: URL(fileURLWithPath: name + "root.der"))
    let app = ConsumeStage.app
    let yaml = """
      kafka: { bootstrapServers: "\(bootstrap)", durability: relaxed }
      topics:
        directory: \(URL(fileURLWithPath: project + "/topics").standardizedFileURL.path)
        prefix: "\(prefix)"
        lanes: \(Self.lanes)
      trust: { roots: [\(name)root.der] }
      apps: [{ bundleId: \(app.bundleId), appAppleId: \(app.appAppleId), environments: [Production] }]
      workers: { \(entry) }
      admin: { host: 127.0.0.1 }
      logging: { level: warning }
      """
    try Data(yaml.utf8).write(to: URL(fileURLWithPath: name + "yaml"))
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let programs = (own as NSString).deletingLastPathComponent
    _ = try ChildProcess.output(of: programs + "/millrace", ["topics", "apply", "--yes", "--config", name + "yaml"])
    return Place(program: programs + "/" + program, configuration: name + "yaml", log: name)
  }

  private struct Worker {
    let process: ChildProcess
    private let port: Int
    private let log: String

    init(_ place: Place, number: Int) throws {
      port = try FreePorts.find(1)[0]
      log = place.log + "\(number).log"
      process = try ChildProcess(
        place.program, ["--config", place.configuration],
        environment: ["MILLRACE_ADMIN_PORT": "\(port)", "MILLRACE_KAFKA_INSTANCE": "worker-\(number)"],
        log: log)
    }

    /// The sum of a metric over its series; 0 if the process does not answer yet.
    func sum(of metric: String) throws -> Int {
      guard process.isRunning else {
        let text = FileManager.default.contents(atPath: log) ?? Data()
        throw BenchError("a worker ended: \(String(decoding: text, as: UTF8.self))")
      }
      // curl ends with an error while the port is closed.
      let page = try ChildProcess.output(
        of: "sh", ["-c", "curl --silent http://127.0.0.1:\(port)/metrics || true"])
      return page.split(separator: "\n").filter { $0.hasPrefix(metric + "{") }
        .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0) { $0 + Int($1) }
    }

    func wait(for metric: String, atLeast value: Int) async throws {
      let limit = ContinuousClock.now + .seconds(300)
      while try sum(of: metric) < value {
        guard ContinuousClock.now < limit else { throw BenchError("\(metric) did not reach \(value); see \(log)") }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }
}
