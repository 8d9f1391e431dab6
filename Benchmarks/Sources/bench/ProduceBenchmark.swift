// Compares the cost of awaiting one record with librdkafka itself.
import ArgumentParser
import Foundation
import KafkaClient

struct ProduceBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "produce",
    abstract: "Compares an awaited send of KafkaClient.KafkaProducer with a plain librdkafka loop in C.",
    discussion: """
      Both use the same embedded cluster and the same properties, in alternating rounds. The cluster keeps 5 MiB a
      partition and drops older records, which is harmless here because nothing reads them.
      """)

  @OptionGroup var output: OutputOptions
  @Option(help: "The records of a round.") var records = 4_000
  @Option(help: "The rounds for each.") var rounds = 7
  @Option(help: "The bytes of a record.") var bytes = 17_000
  @Option(help: "The project's directory.") var project = "."

  private static let topic = "bench.produce"

  func run() async throws {
    let cluster = try await ClusterProcess.start(project: project, extra: [Self.topic])
    defer { cluster.stop() }
    let bootstrap = cluster.bootstrap

    var results: [ProduceResult] = []
    for inFlight in [1, 64] {
      var result = ProduceResult(inFlight: inFlight)
      // The first round of each warms up connections and code.
      for round in 0...rounds {
        let loop: Sample
        let awaited: Sample
        if round.isMultiple(of: 2) {
          loop = try ProduceLoop.run(
            bootstrap, topic: Self.topic, count: records, bytes: bytes, inFlight: inFlight)
          awaited = try await inSwift(bootstrap, inFlight)
        } else {
          awaited = try await inSwift(bootstrap, inFlight)
          loop = try ProduceLoop.run(
            bootstrap, topic: Self.topic, count: records, bytes: bytes, inFlight: inFlight)
        }
        if round > 0 { result.rounds.append((loop, awaited)) }
      }
      results.append(result)
    }
    print(output.json ? ProduceReport.line(results, bytes) : ProduceReport.table(results, bytes))
  }

  private func inSwift(_ bootstrap: String, _ inFlight: Int) async throws -> Sample {
    let producer = try KafkaProducer(KafkaConfiguration(bootstrapServers: bootstrap, clientID: "bench"))
    async let running: Void = producer.run()
    let value = [UInt8](repeating: UInt8(ascii: "x"), count: bytes)
    let start = ContinuousClock.now
    let cpu = CPUTime.ofProcess
    let latencies = try await withThrowingTaskGroup(of: [Double].self) { group in
      for worker in 0..<inFlight {
        group.addTask { [records] in
          var latencies: [Double] = []
          for index in stride(from: worker, to: records, by: inFlight) {
            let start = ContinuousClock.now
            _ = try await producer.send(
              ProducerRecord(topic: Self.topic, key: Array(String(index).utf8), value: value))
            latencies.append((ContinuousClock.now - start) / .nanoseconds(1))
          }
          return latencies
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let elapsed = (ContinuousClock.now - start) / .nanoseconds(1)
    producer.shutDown()
    try await running
    return Sample(nanoseconds: latencies, elapsed: elapsed, cpuSeconds: CPUTime.ofProcess - cpu)
  }
}
