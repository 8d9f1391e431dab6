// The outage and the wave of refunds with real processes: a Kafka, the ingress, workers of which one is killed, and a
// simulated App Store whose world is the truth that everything is held against. scripts/rehearse runs it.

import ArgumentParser
import Foundation
import Operations
import Processes

@main struct MillraceRehearse: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "millrace-rehearse",
    abstract: "Plays an outage and a wave of refunds with real processes, and judges what came of it.",
    discussion: """
      Needs an Apple that remembers successful requests by their requestIdentifier for an hour (server.remembers: \
      successes): an answer that was lost is asked for again with the same bytes.
      """)

  @Option(help: "Subscriptions of the mass extension.") var size = 400
  @Option(help: "Purchases that refunds are about.") var refunds = 200
  @Option(help: "How many processes of each worker; several numbers play it several times.")
  var workers: [Int] = [1, 2]
  @Option(help: "How fast time passes.") var rate = 5.0
  @Option(help: "Decides what happens; without it, any.") var seed: UInt64?
  @Option(help: "Seconds after which everything is over, done or not.") var limit = 240
  @Flag(help: "At least 0.9 of the budget has to be used while work waits; says something where nothing else runs.")
  var judgeBudget = false
  @Flag(help: "Tell what came and what became of it, instead of comparing runs.") var story = false
  @Flag(inversion: .prefixedNo, help: "Send everything to all workers again after the last run.") var replay = true
  @Option(help: "The directory of the executables.") var programs: String
  @Option(help: "The directory of the topic files.") var topics = "topics"
  @Option(help: "Where to put configurations and logs.") var directory: String
  @Option(help: "Comma-separated host:port of a real cluster's brokers, where topics of its own are made.")
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
          seed \(seed): \(size) subscriptions, \(refunds) purchases, a clock \(Int(rate)) times as fast, an Apple that \
      remembers successes
      """)
    let counts = workers
    let results = try await interruptible {
      var results: [RunResult] = []
      for (index, count) in counts.enumerated() {
        var settings = settings
        settings.isReplayed = settings.isReplayed && index == counts.count - 1
        results.append(
          try await Stage.run(settings, name: "\(count)", output: output) { try await Play($0, workers: count).run() })
      }
      return results
    }
    try output.lines(
      story ? results.flatMap { $0.story.lines(usesColor: output.usesColor) } : Report(results, output).lines)
    let faults = results.flatMap { $0.faults + ($0.replay?.faults ?? []) } + Report.differences(results)
    guard faults.isEmpty else {
      for fault in faults.prefix(30) { try output.line("    ✗ \(fault)") }
      if faults.count > 30 { try output.line("    and \(faults.count - 30) more") }
      try output.line("    again with --seed \(seed); logs in \(directory)")
      throw ExitCode.failure
    }
  }
}

/// What all runs have in common.
struct Settings: Sendable {
  static let bundleId = "com.example.app"
  static let monthly = "com.example.app.monthly"
  static let yearly = "com.example.app.yearly"
  static let coins = "com.example.app.coins"
  /// What Millrace may use of Apple's limits.
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
  /// The cluster to use; nil: an embedded one for each run.
  var bootstrapServers: String?
  var deadline: ContinuousClock.Instant

  /// Partitions of every topic: as many as it takes to stay within what the embedded cluster keeps of one.
  var lanes: Int { size > 1_000 ? 12 : 6 }

  /// In the scenario's time, what takes that long in real time: what happens at all and what goes wrong takes as long
  /// however fast the clock is.
  func lasting(_ real: Duration) -> Duration { real * rate }

  /// `workers[].retryDelays`.
  var retryDelays: [Duration] { [.milliseconds(500), .milliseconds(1_500), .seconds(3)].map { lasting($0) } }

  func program(_ name: String) -> String { "\(programs)/\(name)" }

  /// Calls that Millrace may make in an hour of the scenario's time to extend subscriptions: 20 a second of real time, as
  /// Apple documents, whatever the clock's rate, and its share of it.
  var callsPerHour: Double { 20 * 3_600 / rate * Self.share }
}
