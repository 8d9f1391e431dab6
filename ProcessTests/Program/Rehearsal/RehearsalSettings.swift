// The settings of all runs of a rehearsal.

import ArgumentParser

struct RehearsalSettings: ParsableArguments {
  static let bundleId = "com.example.app"
  static let monthly = "com.example.app.monthly"
  static let yearly = "com.example.app.yearly"
  static let coins = "com.example.app.coins"
  /// The part of Apple's limits that Millrace may use.
  static let share = 0.8

  @Option(help: "The number of subscriptions in the mass extension.") var size = 400
  @Option(help: "The number of purchases with refunds.") var refunds = 200
  @Option(help: "The rate of time.") var rate = 5.0
  @Flag(help: "Require 0.9 of the budget to be used while work waits; for idle machines.")
  var judgeBudget = false

  func validate() throws {
    guard (40...20_000).contains(size) else { throw ValidationError("--size must be from 40 to 20000, not \(size)") }
    guard rate > 0, rate <= 600 else { throw ValidationError("--rate must be above 0 and at most 600, not \(rate)") }
  }

  /// The number of partitions per topic, enough to stay within the embedded cluster's limit per partition.
  var lanes: Int { size > 1_000 ? 12 : 6 }

  /// Converts real time to the scenario's time, for things that take real time whatever the clock's rate.
  func lasting(_ real: Duration) -> Duration { real * rate }

  /// `workers.<name>.retryDelays`.
  var retryDelays: [Duration] { [.milliseconds(500), .milliseconds(1_500), .seconds(3)].map { lasting($0) } }

  /// The number of extension calls per hour of the scenario's time. Apple documents 20 per second, here of real time
  /// whatever the clock's rate; Millrace uses its share of them.
  var callsPerHour: Double { 20 * 3_600 / rate * Self.share }
}
