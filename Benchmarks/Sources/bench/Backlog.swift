// Measures a worker with a backlog of a million records on a real cluster. The embedded cluster keeps only 5 MiB of a
// partition.
import AppStore
import AppStoreSignature
import AppStoreSigning
import ArgumentParser
import Foundation
import KafkaClient
import MillraceWorker
@_spi(Measurement) import MillraceTesting

/// The topics of one run, on the cluster of `KAFKA_BOOTSTRAP_SERVERS`.
struct BacklogStage {
  let bootstrap: String
  let lanes: Int
  let bytes: Int

  /// The brokers of the cluster; nil if none is set.
  static var servers: String? {
    ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Creates the topics and writes the records. Then a worker processes them, and a second one restores the ledger.
  /// Each runs in its own process, for a separate memory measurement.
  func run(_ count: Int) async throws -> (worked: BacklogResult, restored: RestoreResult) {
    let topics = try await RunTopics(on: bootstrap, lanes: lanes)
    ConsumeBenchmark.logger.notice("topics \(topics.prefix)* remain; their records are deleted after an hour")
    _ = try await topics.fill(count, on: bootstrap) { $0.unsigned($1, bytes: bytes) }
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let place = ["--bootstrap", bootstrap, "--prefix", topics.prefix]
    let worked = try BacklogResult(try ChildProcess.output(of: own, ["backlog"] + place + ["--count", "\(count)"]))
    let restored = try RestoreResult(try ChildProcess.output(of: own, ["restore"] + place))
    guard restored.entries == count else { throw BenchError("only \(restored.entries) of \(count) entries restored") }
    return (worked, restored)
  }
}

/// Processes a backlog and prints the cost.
struct Backlog: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs a worker until it has handled and committed the records.", shouldDisplay: false)

  @Option(help: "The cluster's bootstrap servers.") var bootstrap: String
  @Option(help: "The prefix of its topics' names.") var prefix: String
  @Option(help: "The number of records.") var count: Int
  @Option(help: "The records to handle before the measurement begins.") var warmUp = 0
  @Option(help: "Wait for this number of lanes, print a line, and then expect the records.") var lanes: Int?
  @Option(help: "The DER file of the root certificate to verify the records with; without it they are not verified.")
  var root: String?

  func run() async throws {
    var configuration = MillraceConfiguration()
    configuration.topics.prefix = prefix
    let app = SampleApp()
    var settings = AppSettings()
    settings.bundleId = app.bundleId
    settings.appAppleId = app.appAppleId
    settings.environments = [app.environment]
    configuration.apps = [settings]
    let worker = try await MeasuredWorker(
      EmptyWorker.self, configuration, EmptyWorker.policy,
      log: try await ConsumeStage.log(bootstrap, isBacklog: true), verifier: try root.map(Self.verifier),
      logger: ConsumeBenchmark.logger)
    // The lanes that start first handle records while the others start, so the measurement begins before.
    var (start, cpu, first) = (ContinuousClock.now, CPUTime.ofProcess, 0)
    let result = try await worker.running { _ in
      if let lanes {
        // While the group rebalances, the number may be reached for a moment.
        var since = ContinuousClock.now
        while since.duration(to: .now) < .seconds(3) {
          if worker.lanes != lanes { since = .now }
          try await Task.sleep(for: .milliseconds(10))
        }
        (start, cpu) = (.now, CPUTime.ofProcess)
        FileHandle.standardOutput.write(Data("has its lanes\n".utf8))
      }
      var (last, heard) = (0, ContinuousClock.now)
      while last < count {
        try await Task.sleep(for: .milliseconds(10))
        let handled = EmptyWorker.handled.load(ordering: .relaxed)
        if last < warmUp, handled >= warmUp { (start, cpu, first) = (.now, CPUTime.ofProcess, handled) }
        if handled > last { (last, heard) = (handled, .now) }
        guard heard.duration(to: .now) < .seconds(60) else {
          throw BenchError("\(count - last) records were not handled")
        }
      }
      try await worker.untilQuiet()
      return BacklogResult(
        handled: EmptyWorker.handled.load(ordering: .relaxed) - first,
        seconds: (ContinuousClock.now - start) / .seconds(1),
        cpuSeconds: CPUTime.ofProcess - cpu, peakMiB: Restore.peakBytes / 1_048_576)
    }
    print(result.line)
  }

  private static func verifier(trusting root: String) throws -> SignedDataVerifier {
    var configuration = SignedDataVerifier.Configuration()
    configuration.trustedRoots = [Array(try Data(contentsOf: URL(fileURLWithPath: root)))]
    return try SignedDataVerifier(configuration)
  }
}

/// The cost of a backlog.
struct BacklogResult {
  var handled: Int
  /// The time from the start of the worker, from its lanes running before the records came, or from the end of the
  /// warm-up, to the last commit.
  var seconds: Double
  /// The CPU time of the process in that time.
  var cpuSeconds: Double
  var peakMiB: Double

  var line: String { "\(handled) \(seconds) \(cpuSeconds) \(peakMiB)" }

  init(handled: Int, seconds: Double, cpuSeconds: Double, peakMiB: Double) {
    (self.handled, self.seconds, self.cpuSeconds, self.peakMiB) = (handled, seconds, cpuSeconds, peakMiB)
  }

  init(_ line: String) throws {
    let parts = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    guard parts.count == 4 else { throw BenchError("unexpected output of the backlog process: \(line)") }
    self.init(handled: Int(parts[0]), seconds: parts[1], cpuSeconds: parts[2], peakMiB: parts[3])
  }
}
