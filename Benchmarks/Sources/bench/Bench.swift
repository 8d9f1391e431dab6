// `bench`: what `scripts/bench` runs, in release mode.
import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measures Millrace against the least that the same work could cost.",
    discussion: "Both halves of every ratio come from one run whose rounds alternate, so that drift cancels.",
    subcommands: [
      VerifyBenchmark.self, IngressBenchmark.self, ProduceBenchmark.self, ConsumeBenchmark.self,
      ReplayBenchmark.self, SimulatorBenchmark.self, ListLetters.self, Serve.self, Cluster.self, Restore.self,
      Backlog.self,
    ])
}

/// The option that every benchmark has.
struct OutputOptions: ParsableArguments {
  @Flag(help: "One JSON object on one line instead of a table.") var json = false
}

/// What stopped a benchmark.
struct BenchError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
