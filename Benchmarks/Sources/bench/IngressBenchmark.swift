// Loads the real ingress, a server that does nothing, and two that only check raw signatures.
import AppStore
import AppStoreSignature
import AppStoreSigning
import ArgumentParser
import Foundation

struct IngressBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ingress",
    abstract: "Compares millrace-ingress on an embedded cluster with the same HTTP server doing less.",
    discussion: """
      (a) answers 200 without any check, (b) is the ingress, (c) checks the raw signatures of the three tokens, (d) that
      of the outer token. A loop in C that sends records of the same size and awaits them runs in turn with the servers:
      (b) has to do what (d) and this loop do together. Server, cluster and load generator share the machine, each in its own process. The embedded
      cluster keeps 5 MiB a partition and drops older records, which is harmless here because nothing reads them.
      """)

  @OptionGroup var output: OutputOptions
  @Option(help: "The rounds for each server.") var rounds = 4
  @Option(help: "The seconds of a round.") var seconds = 5
  @Option(help: "The number of open connections.") var connections = 64
  @Option(help: "The number of different notifications, each with its own key.") var notifications = 96
  @Option(help: "The project's directory.") var project = "."

  func run() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/millrace-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch { print("could not remove \(directory)") }
    }
    let stage = try IngressStage(directory: directory, project: project, notifications: notifications)
    defer { stage.stop() }
    try await stage.waitUntilServing()
    let load = try LoadGenerator(bodies: stage.bodies, connections: connections, directory: directory)
    for contender in stage.contenders { _ = try load.run(port: contender.port, seconds: 2) }
    var sends: [Sample] = []
    for round in 0..<rounds {
      // Reverses the order in every second round, so that no server always runs first.
      for contender in round.isMultiple(of: 2) ? stage.contenders : stage.contenders.reversed() {
        let before = contender.process.cpuSeconds
        let result = try load.run(port: contender.port, seconds: seconds)
        contender.add(result, cpuSeconds: contender.process.cpuSeconds - before)
      }
      sends.append(
        try ProduceLoop.run(
          stage.bootstrap, topic: ConsumeStage.topic, count: 20_000, bytes: stage.bodies[0].count,
          inFlight: connections))
    }
    let report = IngressReport(stage.contenders, sends, connections: connections, bytes: stage.bodies[0].count)
    print(output.json ? report.line : report.table)
    guard stage.contenders.allSatisfy({ $0.failures == 0 }) else { throw ExitCode.failure }
  }
}

/// A server under load and its measurements.
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
  /// CPU time per request in microseconds.
  var cpuPerRequest: Double { Numbers.median(rounds.map(\.cpuPerRequest)) * 1e6 }
  /// Peak memory in mebibytes.
  var peakMemory: Double { process.peakMemory / 1_048_576 }
  var failures: Int { rounds.reduce(0) { $0 + $1.result.failures } }
}
