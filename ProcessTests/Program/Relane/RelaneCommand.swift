// Moves a worker to topics with more lanes under load. scripts/scenario relane runs it.

import ArgumentParser
import ScenarioRig

struct RelaneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relane",
    abstract: "Shows with real processes that a worker can get more lanes and does nothing twice.")

  @Option(help: "The number of lanes before.") var from = 4
  @Option(help: "The number of lanes after.") var to = 12
  @OptionGroup var options: RigOptions

  func run() async throws {
    let rig = options.rig()
    guard rig.bootstrapServers != nil else {
      throw ValidationError("the move needs transactions: name a real cluster with --bootstrap-servers")
    }
    say("seed \(rig.seed)")
    let (from, to) = (from, to)
    let verdict = try await interruptible { try await RelaneTest.run(from: from, to: to, rig) }
    say("\(verdict.faults.isEmpty ? "as promised" : "NOT AS PROMISED"): \(verdict.title)")
    say("  \(verdict.details)")
    faultLines(verdict.faults, upTo: 20, more: "  and") { "  \($0)" }.forEach(say)
    guard verdict.faults.isEmpty else {
      say("repeat with --seed \(rig.seed); logs in \(rig.directory)")
      throw ExitCode.failure
    }
  }
}
