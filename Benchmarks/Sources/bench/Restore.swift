// Measures the start of a worker with an existing ledger, in its own process for a separate memory measurement.
import AppStore
import ArgumentParser
import Foundation
import KafkaClient
import Logging
import MillraceWorker
@_spi(Measurement) import MillraceTesting

struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Starts a worker, waits until all its lanes run, and prints the cost.", shouldDisplay: false)

  @Option(help: "The cluster's bootstrap servers.") var bootstrap: String
  @Option(help: "The prefix of its topics' names.") var prefix = ""

  func run() async throws {
    let log = try await ConsumeStage.log(bootstrap, isBacklog: true)
    var configuration = MillraceConfiguration()
    configuration.topics.prefix = prefix
    let worker = try await MeasuredWorker(
      EmptyWorker.self, configuration, EmptyWorker.policy, log: log, verifier: nil,
      logger: ConsumeBenchmark.logger)
    let result = try await worker.running { restoring in
      // A lane reports its number of entries after its first commit.
      try await worker.untilQuiet()
      return RestoreResult(
        entries: worker.sum(of: "millrace_worker_ledger_entries"), restoring: restoring / .seconds(1),
        peakMiB: Self.peakBytes / 1_048_576)
    }
    print(result.line)
  }

  /// The peak resident memory (`proc_pid_status(5)`, VmHWM).
  static var peakBytes: Double {
    let status = FileManager.default.contents(atPath: "/proc/self/status").map { String(decoding: $0, as: UTF8.self) }
    for line in (status ?? "").split(separator: "\n") where line.hasPrefix("VmHWM:") {
      return (line.split(separator: " ").dropLast().last.flatMap { Double($0) } ?? .nan) * 1_024
    }
    return .nan
  }
}

extension MeasuredWorker {
  /// The number of lanes that run.
  var lanes: Int { sum(of: "millrace_worker_lanes") }

  /// The sum of a metric over its series.
  func sum(of metric: String) -> Int {
    metrics.split(separator: "\n").filter { $0.hasPrefix(metric + "{") }
      .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0) { $0 + Int($1) }
  }
}

/// The cost of a start.
struct RestoreResult {
  /// Notifications in the ledgers of all lanes.
  var entries = 0
  /// The seconds between the assignment and the last lane's start, which is the time to restore the ledgers.
  var restoring = 0.0
  var peakMiB = 0.0

  var line: String { "\(entries) \(restoring) \(peakMiB)" }

  init(entries: Int, restoring: Double, peakMiB: Double) {
    self.entries = entries
    self.restoring = restoring
    self.peakMiB = peakMiB
  }

  init(_ line: String) throws {
    let parts = line.split(whereSeparator: \.isWhitespace)
    guard parts.count == 3, let entries = Int(parts[0]), let restoring = Double(parts[1]),
      let peak = Double(parts[2])
    else { throw BenchError("unexpected output of the restore process: \(line)") }
    self.init(entries: entries, restoring: restoring, peakMiB: peak)
  }
}
