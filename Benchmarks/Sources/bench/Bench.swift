// The `bench` command, which `scripts/bench` runs in release mode.
import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Compares Millrace with the minimum cost of the same work.",
    discussion: "Both values of a ratio come from one run with alternating rounds, so drift cancels out.",
    subcommands: [
      VerifyBenchmark.self, IngressBenchmark.self, ProduceBenchmark.self, ConsumeBenchmark.self,
      ReplayBenchmark.self, SimulatorBenchmark.self, PeersBenchmark.self, LatencyBenchmark.self, GrowthBenchmark.self,
      ListLetters.self, Serve.self, Cluster.self, Restore.self, Backlog.self,
    ])
}

/// The option that all benchmarks share.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print one JSON object on one line instead of a table.") var json = false
}

/// The reason that a benchmark stopped.
struct BenchError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
