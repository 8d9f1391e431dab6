// Kills, stops and restarts real processes of a worker and holds what they left in Kafka and in the world against what was
// sent. scripts/crash runs it.

import ArgumentParser
import Foundation
import Processes

@main struct MillraceCrash: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "millrace-crash",
    abstract: "Shows with real processes that a worker loses nothing and does nothing twice.",
    discussion: """
      Without --bootstrap-servers each deployment has an embedded cluster of its own, in a process of its own, where \
      workers commit at least once; with them they commit in transactions.
      """)

  @Argument(help: "What to do: \(Scenario.allCases.map(\.rawValue).joined(separator: ", ")).")
  var scenarios: [Scenario]

  @Option(help: "Decides what is sent and when processes die; without it, any.") var seed: UInt64?
  @Option(help: "How often processes are killed, restarted or paused.") var rounds = 10
  @Option(help: "How many deployments go through each scenario at the same time.") var deployments = 1
  @Option(help: "Seconds after which everything is over, done or not.") var limit = 240
  @Option(help: "Comma-separated host:port of a real cluster's brokers.") var bootstrapServers: String?
  @Option(help: "The directory of the executables.") var programs: String
  @Option(help: "The directory of the topic files.") var topics = "topics"
  @Option(help: "Where to put configurations and logs.") var directory: String

  func run() async throws {
    let seed = seed ?? UInt64.random(in: 0..<1_000_000)
    say("seed \(seed)")
    let tools = Tools(
      programs: programs, topics: topics, directory: directory, bootstrapServers: bootstrapServers,
      deadline: ContinuousClock.now + .seconds(limit))
    let verdicts = try await interruptible { try await all(seed, tools) }
    for verdict in verdicts {
      say("\(verdict.faults.isEmpty ? "as promised" : "NOT AS PROMISED"): \(verdict.title)")
      say("  \(verdict.details)")
      for fault in verdict.faults.prefix(20) { say("  \(fault)") }
      if verdict.faults.count > 20 { say("  and \(verdict.faults.count - 20) more") }
    }
    guard verdicts.allSatisfy(\.faults.isEmpty) else {
      say("again with --seed \(seed); logs in \(directory)")
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
        for number in 0..<max(1, deployments) {
          let own = seed &+ UInt64(number)
          group.addTask { [rounds] in
            let name = "\(scenario.rawValue)-\(number + 1)"
            return [
              try await Mill.run(name, scenario.size, seed: own, tools: tools, say: say) { mill in
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

/// One line for whoever watches.
@Sendable func say(_ line: String) {
  FileHandle.standardOutput.write(Data("    \(line)\n".utf8))
}
