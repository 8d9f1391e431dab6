// A worker that starts on what its ledger's topic holds: what that takes, in a process of its own so that its memory is
// nobody else's.
import AppStore
import ArgumentParser
import Foundation
import Kafka
import Logging
import Millrace
@_spi(Measurement) import MillraceTesting

struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Starts a worker, waits until all its lanes run, and prints what that took.", shouldDisplay: false)

  @Option(help: "The cluster's address.") var bootstrap: String
  @Option(help: "What its topics' names begin with.") var prefix = ""

  func run() async throws {
    let log = try await ConsumeStage.log(bootstrap, isBacklog: true)
    var configuration = MillraceConfiguration()
    configuration.topics.prefix = prefix
    let worker = try await MeasuredWorker(
      EmptyWorker.self, configuration, EmptyWorker.policy, log: log, verifier: nil,
      logger: ConsumeBenchmark.logger)
    let start = ContinuousClock.now
    let result = try await worker.running { restoring in
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      // A lane states how many entries it has once its first commit is through.
      try await worker.untilQuiet()
      return RestoreResult(
        entries: Self.entries(in: worker.metrics), seconds: seconds, restoring: restoring / .seconds(1),
        peakMiB: Self.peakBytes / 1_048_576)
    }
    print(result.line)
  }

  private static func entries(in metrics: String) -> Int {
    metrics.split(separator: "\n").filter { $0.hasPrefix("millrace_worker_ledger_entries{") }
      .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0) { $0 + Int($1) }
  }

  /// The most that was resident at one time (`proc_pid_status(5)`, VmHWM).
  static var peakBytes: Double {
    let status = FileManager.default.contents(atPath: "/proc/self/status").map { String(decoding: $0, as: UTF8.self) }
    for line in (status ?? "").split(separator: "\n") where line.hasPrefix("VmHWM:") {
      return (line.split(separator: " ").dropLast().last.flatMap { Double($0) } ?? .nan) * 1_024
    }
    return .nan
  }
}

/// What a start took.
struct RestoreResult {
  /// Notifications in the ledgers of all lanes.
  var entries = 0
  /// From nothing to all lanes running, the group's first join (3 s on the embedded cluster) included.
  var seconds = 0.0
  /// The part of it in which the lanes were owned and did not all run: what their ledgers took.
  var restoring = 0.0
  var peakMiB = 0.0

  var line: String { "\(entries) \(seconds) \(restoring) \(peakMiB)" }

  init(entries: Int, seconds: Double, restoring: Double, peakMiB: Double) {
    self.entries = entries
    self.seconds = seconds
    self.restoring = restoring
    self.peakMiB = peakMiB
  }

  init(_ line: String) throws {
    let parts = line.split(whereSeparator: \.isWhitespace)
    guard parts.count == 4, let entries = Int(parts[0]), let seconds = Double(parts[1]),
      let restoring = Double(parts[2]), let peak = Double(parts[3])
    else { throw BenchError("no result of a restore: \(line)") }
    self.init(entries: entries, seconds: seconds, restoring: restoring, peakMiB: peak)
  }
}
