// `appstore-simulator benchmark`: measures how many notifications one core signs, and whether memory grows.

import AppStoreSimulator
import ArgumentParser

struct BenchmarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "benchmark",
    abstract: "Signs renewal notifications and prints the rate of one core and the memory in use.")

  @Option(help: "The number of notifications.") var count = 1_000_000

  func validate() throws {
    guard count > 0 else { throw ValidationError("--count must be above 0") }
  }

  func run() throws {
    let result = try SigningBenchmark.run(count: count) { sample in
      let memory = sample.resident.map { "\($0 / 1_048_576) MiB" } ?? "unknown"
      print("\(sample.signed) signed, \(sample.cpu) of CPU time, \(memory)")
    }
    print("\(Int(result.perSecond)) signed notifications per second and core, \(result.bodySize) bytes each")
  }
}
