// Measures the notifications that the simulated App Store signs on one core, and its memory growth.
import AppStore
import AppStoreSimulator
import ArgumentParser

struct SimulatorBenchmark: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulator",
    abstract: "Signs notifications of renewals, three tokens each, and reports the memory in use.")

  @OptionGroup var output: OutputOptions
  @Option(help: "The number of notifications.") var count = 1_000_000

  func run() throws {
    let result = try SigningBenchmark.run(count: count)
    print(output.json ? line(result) : table(result))
  }

  private func line(_ result: SigningBenchmark) -> String {
    var object = JSONObject()
    object["benchmark"] = .string("simulator")
    object.set("signedPerCPUSecond", result.perSecond)
    object["bytes"] = .integer(Int64(result.bodySize))
    object["samples"] = .array(
      result.samples.map { sample in
        var json = JSONObject()
        json["signed"] = .integer(Int64(sample.signed))
        json["residentBytes"] = sample.resident.map { .integer(Int64($0)) }
        return .object(json)
      })
    return object.line
  }

  private func table(_ result: SigningBenchmark) -> String {
    var table = Table(titles: ["simulator", "resident MiB"])
    table.rows = result.samples.map { sample in
      ["\(Numbers.whole(Double(sample.signed))) signed", sample.resident.map { "\($0 >> 20)" } ?? "unknown"]
    }
    return """
      \(table.text)
      \(Numbers.whole(result.perSecond)) signed notifications of \(result.bodySize) bytes per CPU second
      """
  }
}
