// Measures how the cost of a notification grows with processes, and the cost of a start with lanes and ledger entries.
import AppStore
import ArgumentParser
import Foundation

struct GrowthBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "growth",
    abstract: "Measures cost against the number of processes, lanes and ledger entries, on a real Kafka.",
    discussion: """
      KAFKA_BOOTSTRAP_SERVERS names the cluster. The workers of a round share twelve lanes and begin with an empty \
      topic; CPU time counts from a fifth of the records, over all processes. The ingress processes of a round share \
      the connections. A start lasts from the assignment of all lanes to one process until the last one runs.
      """)

  @OptionGroup var output: OutputOptions
  @Option(help: "The rounds for each number of processes.") var rounds = 3
  @Option(help: "The 1 kB records of a round.") var records = 240_000
  @Option(help: "The notifications that are verified in a round.") var notifications = 18_000
  @Option(help: "The seconds of load in a round.") var seconds = 5
  @Option(help: "The number of open connections.") var connections = 64
  @Option(help: "The ledger entries of the starts with different numbers of lanes.") var entries = 1_000_000
  @Option(help: "The largest ledger, of the starts with twelve lanes.") var largest = 10_000_000
  @Option(help: "The subscriptions whose states and timers a worker restores.") var subscriptions = 5_000_000
  @Option(help: "The project's directory.") var project = "."
  @Option(help: "Run only this part; may be repeated.") var only: [Part] = []

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case headers, verified, ingress, starts, subscriptions
  }

  func run() async throws {
    guard let bootstrap = BacklogStage.servers else { throw ValidationError("KAFKA_BOOTSTRAP_SERVERS is not set") }
    let directory = FileManager.default.temporaryDirectory.path + "/millrace-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch { print("could not remove \(directory)") }
    }
    let stage = GrowthStage(bootstrap: bootstrap, directory: directory)
    let parts = only.isEmpty ? Part.allCases : only
    var report = GrowthReport()
    for part in Part.allCases where parts.contains(part) {
      switch part {
      case .headers:
        report.growth.append(
          try await grow("worker, headers only, 1 kB", [1, 2, 4]) { try await stage.headers($0, records) })
      case .verified:
        report.growth.append(
          try await grow("worker, verified, 19 kB", [1, 2, 4]) { try await stage.verified($0, notifications) })
      case .ingress:
        let ingresses = try IngressProcesses(bootstrap: bootstrap, directory: directory, project: project, count: 2)
        defer { ingresses.stop() }
        try ingresses.waitUntilServing()
        report.growth.append(
          try await grow("ingress, 19 kB", [1, 2]) {
            try ingresses.load($0, connections: connections, seconds: seconds)
          })
      case .starts:
        for lanes in [4, 12, 48] { report.starts.append(try await stage.start(lanes: lanes, entries: entries)) }
        var size = 10_000
        while size <= largest {
          if size != entries { report.starts.append(try await stage.start(lanes: 12, entries: size)) }
          size *= 10
        }
      case .subscriptions:
        let process = { WorkerProcesses(bootstrap: bootstrap, directory: directory, project: project) }
        report.subscriptions = (
          subscriptions, try await process().own(0), try await process().own(subscriptions)
        )
        ConsumeBenchmark.logger.notice("\(report.subscriptionsText ?? "")")
        for round in 0..<rounds {
          report.handlers.append(
            (empty: try await stage.verified(1, notifications), subscriptions: try await process().cost(notifications)))
          let (empty, full) = (report.handlers[round].empty, report.handlers[round].subscriptions)
          ConsumeBenchmark.logger.notice("empty handler \(empty.text), millrace-subscriptions \(full.text)")
        }
      }
    }
    print(output.json ? report.line : report.table)
  }

  /// Measures each number of processes in every round, so that drift of the machine affects all of them.
  private func grow(
    _ name: String, _ counts: [Int], _ measure: (Int) async throws -> PeerCost
  ) async throws -> GrowthReport.Growth {
    var growth = GrowthReport.Growth(name: name, counts: counts, rounds: [])
    for round in 0..<rounds {
      var costs: [PeerCost] = []
      for count in counts {
        let cost = try await measure(count)
        ConsumeBenchmark.logger.notice("\(name), \(count) processes, round \(round + 1): \(cost.text)")
        costs.append(cost)
      }
      growth.rounds.append(costs)
    }
    return growth
  }
}

/// The result of `bench growth`.
struct GrowthReport {
  struct Growth {
    var name: String
    /// The numbers of processes.
    var counts: [Int]
    /// For each round, the cost with each number of processes.
    var rounds: [[PeerCost]]

    func median(_ index: Int, _ value: (PeerCost) -> Double) -> Double {
      Numbers.median(rounds.map { value($0[index]) })
    }

    /// The median of the rounds' CPU time in relation to one process.
    func cost(_ index: Int) -> Double { Numbers.median(rounds.map { $0[index].cpu / $0[0].cpu }) }
  }

  struct Start {
    var lanes: Int
    var result: RestoreResult
  }

  var growth: [Growth] = []
  var starts: [Start] = []
  /// The number of subscriptions, and the cost without them and with them.
  var subscriptions: (count: Int, without: WorkerProcesses.Cost, with: WorkerProcesses.Cost)?
  /// For each round, the costs of an empty handler and of millrace-subscriptions.
  var handlers: [(empty: PeerCost, subscriptions: PeerCost)] = []

  /// The bytes of memory that each subscription takes, and how many are restored in a second.
  private var subscription: (bytes: Double, perSecond: Double)? {
    subscriptions.map { count, without, with in
      ((with.peakMiB - without.peakMiB) * 1_048_576 / Double(count), Double(count) / (with.start - without.start))
    }
  }

  private var handlersTable: String {
    var table = Table(titles: ["handler, verified notifications", "per second", "CPU µs"])
    for (name, costs) in [
      ("empty", handlers.map(\.empty)), ("millrace-subscriptions", handlers.map(\.subscriptions)),
    ] {
      table.rows.append([
        name, Numbers.whole(Numbers.median(costs.map(\.perSecond))), Numbers.fixed(Numbers.median(costs.map(\.cpu)), 1),
      ])
    }
    return table.text
  }

  var subscriptionsText: String? {
    guard let subscriptions, let subscription else { return nil }
    let (without, with) = (subscriptions.without, subscriptions.with)
    return "\(Numbers.whole(Double(subscriptions.count))) subscriptions: start in \(Numbers.fixed(with.start, 1)) s, "
      + "\(Numbers.fixed(without.start, 1)) s without them, so \(Numbers.whole(subscription.perSecond)) restored per "
      + "second; peak \(Numbers.fixed(with.peakMiB, 0)) MiB, \(Numbers.fixed(without.peakMiB, 0)) MiB without them: "
      + "\(Numbers.fixed(subscription.bytes, 0)) bytes each; the lanes of a killed process with half of them paused for "
      + "\(Numbers.fixed(with.pause, 1)) s, \(Numbers.fixed(without.pause, 1)) s without them"
  }

  var table: String {
    var processes = Table(titles: ["growth", "processes", "per second", "CPU µs", "CPU / one process"])
    for part in growth {
      for (index, count) in part.counts.enumerated() {
        processes.rows.append([
          part.name, "\(count)", Numbers.whole(part.median(index) { $0.perSecond }),
          Numbers.fixed(part.median(index) { $0.cpu }, 1), Numbers.fixed(part.cost(index), 2),
        ])
      }
    }
    var first = Table(titles: ["start of a worker", "ledger entries", "restore s", "peak MiB"])
    first.rows = starts.map {
      [
        "\($0.lanes) lanes", Numbers.whole(Double($0.result.entries)), Numbers.fixed($0.result.restoring, 2),
        Numbers.fixed($0.result.peakMiB, 0),
      ]
    }
    return [
      growth.isEmpty ? nil : processes.text, starts.isEmpty ? nil : first.text, subscriptionsText,
      handlers.isEmpty ? nil : handlersTable,
    ].compactMap(\.self).joined(separator: "\n")
  }

  var line: String {
    var object = JSONObject()
    object["benchmark"] = .string("growth")
    object["growth"] = .array(
      growth.flatMap { part in
        part.counts.enumerated().map { index, count in
          var row = JSONObject()
          row["name"] = .string(part.name)
          row["processes"] = .integer(Int64(count))
          row.set("perSecond", part.median(index) { $0.perSecond })
          row.set("cpuMicroseconds", part.median(index) { $0.cpu })
          row.set("cpuRatio", part.cost(index))
          return .object(row)
        }
      })
    object["starts"] = .array(
      starts.map { start in
        var row = JSONObject()
        row["lanes"] = .integer(Int64(start.lanes))
        row["entries"] = .integer(Int64(start.result.entries))
        row.set("restoreSeconds", start.result.restoring)
        row.set("peakMiB", start.result.peakMiB)
        return .object(row)
      })
    if let subscriptions, let subscription {
      var row = JSONObject()
      row["count"] = .integer(Int64(subscriptions.count))
      row.set("startSeconds", subscriptions.with.start)
      row.set("bytesEach", subscription.bytes)
      row.set("perSecond", subscription.perSecond)
      row.set("pauseSeconds", subscriptions.with.pause)
      row.set("cpuMicroseconds", Numbers.median(handlers.map(\.subscriptions.cpu)))
      row.set("emptyCPUMicroseconds", Numbers.median(handlers.map(\.empty.cpu)))
      object["subscriptions"] = .object(row)
    }
    return object.line
  }
}
