// Kills, stops and restarts real processes of a worker, and compares the results in Kafka and at the endpoint with the
// notifications that were sent. scripts/crash runs it.

import ArgumentParser
import Foundation
import Processes

@main struct MillraceCrash: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "millrace-crash",
    abstract: "Shows with real processes that a worker loses nothing and does nothing twice.",
    discussion: """
      Without --bootstrap-servers, each deployment has its own embedded cluster in its own process, and \
      workers commit at least once. With it, they commit in transactions.
      """)

  @Argument(help: "The scenarios: \(Scenario.allCases.map(\.rawValue).joined(separator: ", ")).")
  var scenarios: [Scenario]

  @Option(help: "The random seed; by default a random one.") var seed: UInt64?
  @Option(help: "The number of kills, restarts or pauses.") var rounds = 10
  @Option(help: "The number of deployments that run each scenario in parallel.") var deployments = 1
  @Option(help: "The time limit in seconds.") var limit = 240
  @Option(help: "Comma-separated host:port of a real cluster's brokers.") var bootstrapServers: String?
  @Option(help: "The directory of a scripts/kafka cluster whose nodes may be killed and paused.")
  var nodes: String?
  @Option(help: "The script that runs the nodes.") var kafka = "scripts/kafka"
  @Option(help: "The directory of the executables.") var programs: String
  @Option(help: "The directory of the topic files.") var topics = "topics"
  @Option(help: "The directory for configurations and logs.") var directory: String

  func run() async throws {
    let seed = seed ?? UInt64.random(in: 0..<1_000_000)
    say("seed \(seed)")
    let tools = Tools(
      programs: programs, topics: topics, directory: directory, bootstrapServers: bootstrapServers,
      nodes: nodes.map { KafkaNodes(script: kafka, directory: $0) },
      prefix: ProcessInfo.processInfo.environment["KAFKA_TEST_PREFIX"] ?? "",
      deadline: ContinuousClock.now + .seconds(limit))
    let verdicts = try await interruptible { try await all(seed, tools) }
    for verdict in verdicts {
      say("\(verdict.faults.isEmpty ? "as promised" : "NOT AS PROMISED"): \(verdict.title)")
      say("  \(verdict.details)")
      for fault in verdict.faults.prefix(20) { say("  \(fault)") }
      if verdict.faults.count > 20 { say("  and \(verdict.faults.count - 20) more") }
    }
    guard verdicts.allSatisfy(\.faults.isEmpty) else {
      say("repeat with --seed \(seed); logs in \(directory)")
      throw ExitCode.failure
    }
  }

  private func all(_ seed: UInt64, _ tools: Tools) async throws -> [Verdict] {
    try await withThrowingTaskGroup(of: [Verdict].self) { group in
      for scenario in scenarios {
        guard !scenario.needsTransactions || tools.bootstrapServers != nil else {
          say("skipped: \(scenario.rawValue) needs transactions: set KAFKA_BOOTSTRAP_SERVERS")
          continue
        }
        guard scenario != .faults || tools.nodes != nil else {
          say("skipped: \(scenario.rawValue) needs nodes that may be killed: --nodes")
          continue
        }
        for number in 0..<max(1, deployments) {
          let own = seed &+ UInt64(number)
          group.addTask { [rounds] in
            let name = "\(scenario.rawValue)-\(number + 1)"
            return [
              try await CrashTest.run(name, scenario.size, seed: own, tools: tools, say: say) { mill in
                try await mill.run(scenario, rounds: rounds, seed: own)
              }
            ]
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }
}

/// Prints a line.
@Sendable func say(_ line: String) {
  FileHandle.standardOutput.write(Data("    \(line)\n".utf8))
}
