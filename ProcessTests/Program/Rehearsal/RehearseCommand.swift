// Rehearses an outage and a wave of refunds with real processes: a Kafka, the ingress, and workers, one of which is
// killed. The simulated App Store's state is the reference for all checks. scripts/scenario rehearse runs it.

import ArgumentParser
import Foundation
import Operations
import ScenarioRig

struct RehearseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rehearse",
    abstract: "Plays an outage and a wave of refunds with real processes, and checks the results.",
    discussion: """
      Assumes that Apple remembers successful requests by requestIdentifier for an hour (server.remembers: \
      successes): after a lost answer, the same bytes are sent again.
      """)

  @OptionGroup var settings: RehearsalSettings
  @Option(help: "The number of processes per worker; several numbers cause several runs.")
  var workers: [Int] = [1, 2]
  @Flag(help: "Show notifications and their results instead of comparing runs.") var table = false
  @Flag(inversion: .prefixedNo, help: "Replay everything to all workers after the last run.") var replay = true
  @OptionGroup var options: RigOptions

  func validate() throws {
    guard !workers.isEmpty, workers.allSatisfy({ (1...4).contains($0) }) else {
      throw ValidationError("--workers must be from 1 to 4")
    }
  }

  func run() async throws {
    let output = Output.standardOutput(environment: ProcessInfo.processInfo.environment)
    let rig = options.rig()
    say(
      """
      seed \(rig.seed): \(settings.size) subscriptions, \(settings.refunds) purchases, a clock \
      \(Int(settings.rate)) times as fast, Apple remembers successes
      """)
    let results = try await interruptible { [settings, workers, replay] in
      var results: [RunResult] = []
      for (index, count) in workers.enumerated() {
        let isReplayed = replay && index == workers.count - 1
        results.append(
          try await RehearsalEnvironment.run(settings, rig, name: "\(count)") {
            try await Rehearsal($0, output, workers: count, isReplayed: isReplayed).run()
          })
      }
      return results
    }
    try output.lines(
      table ? results.flatMap { $0.table.lines(usesColor: output.usesColor) } : RehearsalReport(results, output).lines)
    let faults = results.flatMap { $0.faults + ($0.replay?.faults ?? []) } + RehearsalReport.differences(results)
    guard faults.isEmpty else {
      faultLines(faults, upTo: 30) { "✗ \($0)" }.forEach(say)
      say("repeat with --seed \(rig.seed); logs in \(rig.directory)")
      throw ExitCode.failure
    }
  }
}
