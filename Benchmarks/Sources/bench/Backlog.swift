// A worker that comes back to a million records, on a real cluster: the embedded one keeps 5 MiB of a partition.
import AppStore
import ArgumentParser
import Foundation
import Kafka
import Millrace
@_spi(Measurement) import MillraceTesting

/// Topics of this run alone, on the cluster that `KAFKA_BOOTSTRAP_SERVERS` names.
struct BacklogStage {
  let bootstrap: String
  let lanes: Int
  let bytes: Int
  let prefix = "bench-\(UUID().uuidString.prefix(8).lowercased())."

  /// The cluster, where one is named.
  static var servers: String? {
    ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Creates the topics and writes the records, then lets a worker work them off and start again on the ledger that it
  /// wrote, each in a process of its own so that its memory is nobody else's.
  func run(_ count: Int) async throws -> (worked: BacklogResult, restored: RestoreResult) {
    let admin = KafkaAdmin(KafkaConfiguration(bootstrapServers: bootstrap, clientID: "bench-admin"))
    let topics = WorkerTopics(
      worker: EmptyWorker.name, inputs: [prefix + ConsumeStage.topic], delays: EmptyWorker.policy.retryDelays,
      prefix: prefix)
    ConsumeBenchmark.logger.notice("topics \(prefix)* are left behind; what they hold is deleted after an hour")
    for name in topics.laneTopics + topics.others {
      try await admin.createTopic(
        name, partitions: topics.laneTopics.contains(name) ? lanes : 1, replicationFactor: 1,
        settings: ["retention.ms": "3600000"], timeout: .seconds(30))
    }
    var stage = try await ConsumeStage(bootstrap: bootstrap, lanes: lanes, prefix: prefix)
    let filling = stage
    try await filling.producing {
      for first in stride(from: 0, to: count, by: 20_000) {
        try await stage.fill(stage.unsigned(min(20_000, count - first), bytes: bytes))
      }
    }
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let place = ["--bootstrap", bootstrap, "--prefix", prefix]
    let worked = try BacklogResult(try ChildProcess.output(of: own, ["backlog"] + place + ["--count", "\(count)"]))
    let restored = try RestoreResult(try ChildProcess.output(of: own, ["restore"] + place))
    guard restored.entries == count else { throw BenchError("\(restored.entries) of \(count) entries came back") }
    return (worked, restored)
  }
}

/// Works a backlog off and prints what that took.
struct Backlog: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs a worker until it has handled that many records and committed them.", shouldDisplay: false)

  @Option(help: "The cluster's address.") var bootstrap: String
  @Option(help: "What its topics' names begin with.") var prefix: String
  @Option(help: "Records.") var count: Int

  func run() async throws {
    var configuration = MillraceConfiguration()
    configuration.topics.prefix = prefix
    let worker = try await MeasuredWorker(
      EmptyWorker.self, configuration, EmptyWorker.policy,
      log: try await ConsumeStage.log(bootstrap, isBacklog: true), verifier: nil, logger: ConsumeBenchmark.logger)
    let result = try await worker.running { _ in
      let start = ContinuousClock.now
      var (last, heard) = (0, start)
      while last < count {
        try await Task.sleep(for: .milliseconds(10))
        let handled = EmptyWorker.handled.load(ordering: .relaxed)
        if handled > last { (last, heard) = (handled, .now) }
        guard heard.duration(to: .now) < .seconds(60) else {
          throw BenchError("\(count - last) records were not handled")
        }
      }
      try await worker.untilQuiet()
      return BacklogResult(
        handled: EmptyWorker.handled.load(ordering: .relaxed), seconds: (ContinuousClock.now - start) / .seconds(1),
        cpuSeconds: CPUTime.ofProcess, peakMiB: Restore.peakBytes / 1_048_576)
    }
    print(result.line)
  }
}

/// What a backlog took.
struct BacklogResult {
  var handled: Int
  /// From when all lanes run until everything is committed.
  var seconds: Double
  /// Processor time of the whole process.
  var cpuSeconds: Double
  var peakMiB: Double

  var line: String { "\(handled) \(seconds) \(cpuSeconds) \(peakMiB)" }

  init(handled: Int, seconds: Double, cpuSeconds: Double, peakMiB: Double) {
    (self.handled, self.seconds, self.cpuSeconds, self.peakMiB) = (handled, seconds, cpuSeconds, peakMiB)
  }

  init(_ line: String) throws {
    let parts = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    guard parts.count == 4 else { throw BenchError("no result of a backlog: \(line)") }
    self.init(handled: Int(parts[0]), seconds: parts[1], cpuSeconds: parts[2], peakMiB: parts[3])
  }
}
