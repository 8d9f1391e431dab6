// The real ingress under load, between a server that does nothing and one that does only what cannot be left out.
import AppStore
import AppStoreSignature
import AppStoreSigning
import ArgumentParser
import Foundation

struct IngressBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ingress",
    abstract: "millrace-ingress on an embedded cluster, against the same HTTP server doing less.",
    discussion: """
      (a) answers 200 without looking, (b) is the ingress, (c) checks the raw signatures of the three tokens. Server,
      cluster and load generator share the machine, each in its own process. The embedded cluster keeps 5 MiB a
      partition and drops what is older: harmless here, because nobody reads.
      """)

  @OptionGroup var output: OutputOptions
  @Option(help: "Rounds of each server.") var rounds = 4
  @Option(help: "Seconds of each round.") var seconds = 5
  @Option(help: "Open connections.") var connections = 64
  @Option(help: "Different notifications, each with a key of its own.") var notifications = 96
  @Option(help: "The project's directory.") var project = "."

  func run() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/millrace-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch { print("left behind: \(directory)") }
    }
    let stage = try IngressStage(directory: directory, project: project, notifications: notifications)
    defer { stage.stop() }
    try await stage.waitUntilServing()
    let load = try LoadGenerator(bodies: stage.bodies, connections: connections, directory: directory)
    for contender in stage.contenders { _ = try load.run(port: contender.port, seconds: 2) }
    for round in 0..<rounds {
      // Forwards and backwards in turn, so that nobody always comes first.
      for contender in round.isMultiple(of: 2) ? stage.contenders : stage.contenders.reversed() {
        let before = contender.process.cpuSeconds
        let result = try load.run(port: contender.port, seconds: seconds)
        contender.add(result, cpuSeconds: contender.process.cpuSeconds - before)
      }
    }
    let report = IngressReport(stage.contenders, connections: connections, bytes: stage.bodies[0].count)
    print(output.json ? report.line : report.table)
    guard stage.contenders.allSatisfy({ $0.failures == 0 }) else { throw ExitCode.failure }
  }
}

/// One server under load and what was measured of it.
final class Contender {
  let name: String
  let port: Int
  let process: ChildProcess
  private(set) var rounds: [(result: LoadResult, cpuPerRequest: Double)] = []

  init(_ name: String, port: Int, process: ChildProcess) {
    self.name = name
    self.port = port
    self.process = process
  }

  func add(_ result: LoadResult, cpuSeconds: Double) {
    rounds.append((result, cpuSeconds / max(1, result.requests)))
  }

  var requestsPerSecond: Double { Numbers.median(rounds.map(\.result.requestsPerSecond)) }
  var p50: Double { Numbers.median(rounds.map(\.result.p50)) }
  var p99: Double { Numbers.median(rounds.map(\.result.p99)) }
  /// Microseconds of processor time.
  var cpuPerRequest: Double { Numbers.median(rounds.map(\.cpuPerRequest)) * 1e6 }
  /// Mebibytes.
  var peakMemory: Double { process.peakMemory / 1_048_576 }
  var failures: Int { rounds.reduce(0) { $0 + $1.result.failures } }
}
