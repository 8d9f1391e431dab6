// The results of `bench produce` and their report.
import AppStore

/// A round of one contender.
struct Sample {
  /// Latency in microseconds.
  var p50: Double
  var p99: Double
  var perSecond: Double
  /// The CPU time of a record in microseconds, with all threads of the process.
  var cpu: Double

  init(nanoseconds: [Double], elapsed: Double, cpuSeconds: Double) {
    p50 = Numbers.percentile(nanoseconds, 0.5) / 1_000
    p99 = Numbers.percentile(nanoseconds, 0.99) / 1_000
    perSecond = Double(nanoseconds.count) / (elapsed / 1e9)
    cpu = cpuSeconds / Double(nanoseconds.count) * 1e6
  }
}

/// All rounds with one number of records in flight.
struct ProduceResult {
  var inFlight: Int
  var rounds: [(loop: Sample, awaited: Sample)] = []

  init(inFlight: Int) { self.inFlight = inFlight }

  func median(_ side: (((loop: Sample, awaited: Sample)) -> Sample), _ value: (Sample) -> Double) -> Double {
    Numbers.median(rounds.map { value(side($0)) })
  }

  /// The median over rounds of the awaited value divided by the loop's.
  func ratio(_ value: (Sample) -> Double) -> Double {
    Numbers.median(rounds.map { value($0.awaited) / value($0.loop) })
  }
}

/// The result of `bench produce`.
enum ProduceReport {
  static func line(_ results: [ProduceResult], _ bytes: Int) -> String {
    var object = JSONObject()
    object["benchmark"] = .string("produce")
    object["bytes"] = .integer(Int64(bytes))
    for result in results {
      var part = JSONObject()
      for (name, side) in [("librdkafka", { $0.loop }), ("send", { $0.awaited })]
        as [(String, ((loop: Sample, awaited: Sample)) -> Sample)]
      {
        var half = JSONObject()
        half.set("p50Microseconds", result.median(side) { $0.p50 })
        half.set("p99Microseconds", result.median(side) { $0.p99 })
        half.set("recordsPerSecond", result.median(side) { $0.perSecond })
        half.set("cpuMicroseconds", result.median(side) { $0.cpu })
        part[name] = .object(half)
      }
      part.set("p50Ratio", result.ratio(\.p50))
      part.set("p99Ratio", result.ratio(\.p99))
      part.set("throughputRatio", result.ratio(\.perSecond))
      part.set("cpuRatio", result.ratio(\.cpu))
      object["inFlight\(result.inFlight)"] = .object(part)
    }
    return object.line
  }

  static func table(_ results: [ProduceResult], _ bytes: Int) -> String {
    var table = Table(titles: ["produce", "p50 µs", "p99 µs", "records/s", "CPU µs"])
    for result in results {
      func row(_ name: String, _ value: (KeyPath<Sample, Double>) -> String) -> [String] {
        ["\(name), \(result.inFlight) in flight", value(\.p50), value(\.p99), value(\.perSecond), value(\.cpu)]
      }
      table.rows += [
        row("librdkafka in C") { path in Numbers.whole(result.median({ $0.loop }) { $0[keyPath: path] }) },
        row("awaited send") { path in Numbers.whole(result.median({ $0.awaited }) { $0[keyPath: path] }) },
        row("ratio") { path in Numbers.fixed(result.ratio { $0[keyPath: path] }, 2) },
      ]
    }
    return """
      \(table.text)
      records of \(bytes) bytes, acks=all, idempotent; from the call to the acknowledgement; medians of alternating rounds
      """
  }
}
