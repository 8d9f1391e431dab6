// Kills, stops and restarts real processes of a worker, and compares the results in Kafka and at the endpoint with the
// notifications that were sent. scripts/scenario crash runs it.

import ArgumentParser
import ScenarioRig

struct CrashCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crash",
    abstract: "Shows with real processes that a worker loses nothing and does nothing twice.",
    discussion: """
      Without --bootstrap-servers, each deployment has its own embedded cluster in its own process, and \
      workers commit at least once. With it, they commit in transactions.
      """)

  @Argument(help: "The scenarios: \(CrashScenario.allCases.map(\.rawValue).joined(separator: ", ")).")
  var scenarios: [CrashScenario]

  @Option(help: "The number of kills, restarts or pauses.") var rounds = 10
  @Option(help: "The number of lanes. The default depends on the scenario.") var lanes: Int?
  @Option(help: "The number of deployments that run each scenario in parallel.") var deployments = 1
  @Option(help: "The directory of a scripts/kafka cluster whose nodes may be killed and paused.")
  var nodes: String?
  @Option(help: "The script that runs the nodes.") var kafka = "scripts/kafka"
  @OptionGroup var options: RigOptions

  func run() async throws {
    let rig = options.rig()
    say("seed \(rig.seed)")
    let verdicts = try await interruptible { try await all(rig) }
    for verdict in verdicts {
      say("\(verdict.faults.isEmpty ? "as promised" : "NOT AS PROMISED"): \(verdict.title)")
      say("  \(verdict.details)")
      faultLines(verdict.faults, upTo: 20, more: "  and") { "  \($0)" }.forEach(say)
    }
    guard verdicts.allSatisfy(\.faults.isEmpty) else {
      say("repeat with --seed \(rig.seed); logs in \(rig.directory)")
      throw ExitCode.failure
    }
  }

  private func all(_ rig: Rig) async throws -> [CrashVerdict] {
    let nodes = nodes.map { KafkaNodes(script: kafka, directory: $0) }
    return try await withThrowingTaskGroup(of: CrashVerdict.self) { group in
      for scenario in scenarios {
        guard !scenario.needsTransactions || rig.bootstrapServers != nil else {
          say("skipped: \(scenario.rawValue) needs transactions: set KAFKA_BOOTSTRAP_SERVERS")
          continue
        }
        guard scenario != .faults || nodes != nil else {
          say("skipped: \(scenario.rawValue) needs nodes that may be killed: --nodes")
          continue
        }
        for number in 0..<max(1, deployments) {
          group.addTask { [rounds, lanes] in
            try await CrashTest.run(
              scenario, number: number + 1, rounds: rounds, lanes: lanes, seed: rig.seed &+ UInt64(number), rig, nodes)
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }
}
