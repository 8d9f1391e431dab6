// Rehearses an outage and a wave of refunds with real processes: a Kafka, the ingress, and workers, one of which is
// killed. The simulated App Store's state is the reference for all checks. scripts/rehearse runs it.

import ArgumentParser
import Foundation
import Operations
import Processes

@main struct MillraceRehearse: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "millrace-rehearse",
    abstract: "Plays an outage and a wave of refunds with real processes, and checks the results.",
    discussion: """
      Assumes that Apple remembers successful requests by requestIdentifier for an hour (server.remembers: \
      successes): after a lost answer, the same bytes are sent again.
      """)

  @Option(help: "The number of subscriptions in the mass extension.") var size = 400
  @Option(help: "The number of purchases with refunds.") var refunds = 200
  @Option(help: "The number of processes per worker; several numbers cause several runs.")
  var workers: [Int] = [1, 2]
  @Option(help: "The rate of time.") var rate = 5.0
  @Option(help: "The random seed; by default a random one.") var seed: UInt64?
  @Option(help: "The time limit in seconds.") var limit = 240
  @Flag(help: "Require 0.9 of the budget to be used while work waits; for idle machines.")
  var judgeBudget = false
  @Flag(help: "Show notifications and their results instead of comparing runs.") var table = false
  @Flag(inversion: .prefixedNo, help: "Replay everything to all workers after the last run.") var replay = true
  @Option(help: "The directory of the executables.") var programs: String
  @Option(help: "The directory of the topic files.") var topics = "topics"
  @Option(help: "The directory for configurations and logs.") var directory: String
  @Option(help: "Comma-separated host:port of a real cluster's brokers; the run creates its own topics.")
  var bootstrapServers: String?

  func validate() throws {
    guard (40...20_000).contains(size) else { throw ValidationError("--size must be from 40 to 20000, not \(size)") }
    guard rate > 0, rate <= 600 else { throw ValidationError("--rate must be above 0 and at most 600, not \(rate)") }
    guard !workers.isEmpty, workers.allSatisfy({ (1...4).contains($0) }) else {
      throw ValidationError("--workers must be from 1 to 4")
    }
  }

  func run() async throws {
    let output = Output.standardOutput(environment: ProcessInfo.processInfo.environment)
    let seed = seed ?? UInt64.random(in: 0..<1_000_000)
    let settings = Settings(
      size: size, refunds: refunds, rate: rate, seed: seed, isReplayed: replay, isBudgetJudged: judgeBudget,
      programs: programs, topics: topics,
      directory: directory, bootstrapServers: bootstrapServers, deadline: ContinuousClock.now + .seconds(limit))
    try output.line(
      """
          seed \(seed): \(size) subscriptions, \(refunds) purchases, a clock \(Int(rate)) times as fast, Apple \
      remembers successes
      """)
    let counts = workers
    let results = try await interruptible {
      var results: [RunResult] = []
      for (index, count) in counts.enumerated() {
        var settings = settings
        settings.isReplayed = settings.isReplayed && index == counts.count - 1
        results.append(
          try await RehearsalEnvironment.run(settings, name: "\(count)", output: output) {
            try await Rehearsal($0, workers: count).run()
          })
      }
      return results
    }
    try output.lines(
      table ? results.flatMap { $0.table.lines(usesColor: output.usesColor) } : Report(results, output).lines)
    let faults = results.flatMap { $0.faults + ($0.replay?.faults ?? []) } + Report.differences(results)
    guard faults.isEmpty else {
      for fault in faults.prefix(30) { try output.line("    ✗ \(fault)") }
      if faults.count > 30 { try output.line("    and \(faults.count - 30) more") }
      try output.line("    repeat with --seed \(seed); logs in \(directory)")
      throw ExitCode.failure
    }
  }
}

/// The settings of all runs.
struct Settings: Sendable {
  static let bundleId = "com.example.app"
  static let monthly = "com.example.app.monthly"
  static let yearly = "com.example.app.yearly"
  static let coins = "com.example.app.coins"
  /// The part of Apple's limits that Millrace may use.
  static let share = 0.8

  var size: Int
  var refunds: Int
  var rate: Double
  var seed: UInt64
  var isReplayed: Bool
  var isBudgetJudged: Bool
  var programs: String
  var topics: String
  var directory: String
  /// The cluster's brokers; nil: an embedded cluster for each run.
  var bootstrapServers: String?
  var deadline: ContinuousClock.Instant

  /// The number of partitions per topic, enough to stay within the embedded cluster's limit per partition.
  var lanes: Int { size > 1_000 ? 12 : 6 }

  /// Converts real time to the scenario's time, for things that take real time whatever the clock's rate.
  func lasting(_ real: Duration) -> Duration { real * rate }

  /// `workers[].retryDelays`.
  var retryDelays: [Duration] { [.milliseconds(500), .milliseconds(1_500), .seconds(3)].map { lasting($0) } }

  func program(_ name: String) -> String { "\(programs)/\(name)" }

  /// The number of extension calls per hour of the scenario's time. Apple documents 20 per second, here of real time
  /// whatever the clock's rate; Millrace uses its share of them.
  var callsPerHour: Double { 20 * 3_600 / rate * Self.share }
}
