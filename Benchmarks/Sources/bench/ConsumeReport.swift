// The results of `bench consume` and their report.
import AppStore

/// All rounds of one kind of record.
struct ConsumeResult {
  struct Round {
    /// The loop's records per second.
    var loop: Double
    /// The loop's CPU time per record in microseconds. This is the cost of librdkafka, including its threads.
    var loopCPU: Double
    /// The worker's records per second.
    var worker: Double
    /// The worker's CPU time per record in microseconds.
    var workerCPU: Double
    /// The CPU time in microseconds to verify and decode a record and nothing else; nil if the worker does not.
    var verifyCPU: Double?
  }

  var name: String
  var bytes = 0
  var rounds: [Round] = []

  init(name: String) { self.name = name }

  func median(_ value: (Round) -> Double) -> Double { Numbers.median(rounds.map(value)) }
  var ratio: Double { median { $0.worker / $0.loop } }
  /// The records per CPU second of the worker, relative to verification alone.
  var verifyRatio: Double? {
    let ratios = rounds.compactMap { round in round.verifyCPU.map { $0 / round.workerCPU } }
    return ratios.isEmpty ? nil : Numbers.median(ratios)
  }
}

/// The result of `bench consume`.
struct ConsumeReport {
  var results: [ConsumeResult] = []
  /// The lateness of retries in milliseconds.
  var lateness: [Double] = []
  var waiting: WaitingResult?
  var backlog: (worked: BacklogResult, restored: RestoreResult)?

  var line: String {
    var object = JSONObject()
    object["benchmark"] = .string("consume")
    object["records"] = .array(results.map { .object(Self.part($0)) })
    if !lateness.isEmpty { object["lateness"] = .object(late) }
    if let waiting { object["waiting"] = .object(Self.part(waiting)) }
    if let backlog { object["backlog"] = .object(Self.part(backlog.worked, backlog.restored)) }
    return object.line
  }

  private var late: JSONObject {
    var late = JSONObject()
    late["timers"] = .integer(Int64(lateness.count))
    late.set("minMilliseconds", lateness.min() ?? .nan)
    late.set("p50Milliseconds", Numbers.percentile(lateness, 0.5))
    late.set("p99Milliseconds", Numbers.percentile(lateness, 0.99))
    return late
  }

  private static func part(_ result: WaitingResult) -> JSONObject {
    var waiting = JSONObject()
    waiting["records"] = .integer(Int64(result.waiting))
    waiting["probes"] = .integer(Int64(result.waits.count))
    waiting.set("clockRate", WaitingStage.rate)
    waiting.set("p50Milliseconds", Numbers.median(result.waits))
    waiting.set("p99Milliseconds", Numbers.percentile(result.waits, 0.99))
    waiting.set("maxMilliseconds", result.waits.max() ?? .nan)
    waiting.set("triesPerSecond", result.triesPerSecond)
    waiting.set("callsPerSecond", result.callsPerSecond)
    return waiting
  }

  private static func part(_ worked: BacklogResult, _ restored: RestoreResult) -> JSONObject {
    var backlog = JSONObject()
    backlog["records"] = .integer(Int64(worked.handled))
    backlog.set("seconds", worked.seconds)
    backlog.set("cpuSeconds", worked.cpuSeconds)
    backlog.set("peakMiB", worked.peakMiB)
    backlog.set("restoreSeconds", restored.restoring)
    backlog.set("restorePeakMiB", restored.peakMiB)
    return backlog
  }

  private static func part(_ result: ConsumeResult) -> JSONObject {
    var part = JSONObject()
    part["worker"] = .string(result.name)
    part["bytes"] = .integer(Int64(result.bytes))
    part.set("loopPerSecond", result.median(\.loop))
    part.set("workerPerSecond", result.median(\.worker))
    part.set("ratio", result.ratio)
    part.set("loopCPUMicroseconds", result.median(\.loopCPU))
    part.set("workerCPUMicroseconds", result.median(\.workerCPU))
    if let ratio = result.verifyRatio {
      part.set("verifyCPUMicroseconds", result.median { $0.verifyCPU ?? .nan })
      part.set("verifyRatio", ratio)
    }
    return part
  }

  var table: String {
    var table = Table(titles: [
      "consume", "C loop/s", "worker/s", "ratio", "loop CPU µs", "worker CPU µs", "verify CPU µs", "ratio",
    ])
    table.rows = results.map { result in
      [
        "\(Numbers.whole(Double(result.bytes))) bytes, \(result.name)", Numbers.whole(result.median(\.loop)),
        Numbers.whole(result.median(\.worker)), Numbers.fixed(result.ratio, 3),
        Numbers.fixed(result.median(\.loopCPU), 1), Numbers.fixed(result.median(\.workerCPU), 1),
        result.verifyRatio.map { _ in Numbers.fixed(result.median { $0.verifyCPU ?? .nan }, 1) } ?? "",
        result.verifyRatio.map { Numbers.fixed($0, 3) } ?? "",
      ]
    }
    var lines = results.isEmpty ? [] : [table.text]
    if !lateness.isEmpty {
      let late = [0.5, 0.99].map { Numbers.fixed(Numbers.percentile(lateness, $0), 0) }
      lines.append(
        "retry lateness of \(lateness.count) records: p50 \(late[0]) ms, p99 \(late[1]) ms, min \(lateness.min() ?? 0) ms"
      )
    }
    if let waiting {
      lines.append(
        """
        behind \(Numbers.whole(Double(waiting.waiting))) records of an app that wait for Apple, with a clock ten times as \
        fast, \(waiting.waits.count) records of another app reached their handler after p50 \
        \(Numbers.fixed(Numbers.median(waiting.waits), 1)) ms, p99 \
        \(Numbers.fixed(Numbers.percentile(waiting.waits, 0.99), 0)) ms, at most \
        \(Numbers.fixed(waiting.waits.max() ?? .nan, 0)) ms of real time; \(Numbers.whole(waiting.triesPerSecond)) \
        waiting records returned and \(Numbers.fixed(waiting.callsPerSecond, 1)) got a slot per second
        """)
    }
    if let (worked, restored) = backlog {
      lines.append(
        """
        a backlog of \(Numbers.whole(Double(worked.handled))) records: \(Numbers.fixed(worked.seconds, 1)) s, \
        \(Numbers.fixed(worked.cpuSeconds, 1)) s of CPU, peak \(Numbers.fixed(worked.peakMiB, 0)) MiB; \
        its ledger restored in \(Numbers.fixed(restored.restoring, 1)) s, peak \(Numbers.fixed(restored.peakMiB, 0)) MiB
        """)
    }
    return lines.joined(separator: "\n")
  }
}
