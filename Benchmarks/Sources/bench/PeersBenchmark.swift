// Compares the ingress and a worker with programs that do the same work with other libraries, on a real Kafka.
import AppStore
import AppStoreSigning
import ArgumentParser
import Foundation
import KafkaClient
import MillraceWorker

struct PeersBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "Compares Millrace with Kafka's Java client and with Python programs, on a real Kafka.",
    discussion: """
      KAFKA_BOOTSTRAP_SERVERS names the cluster. The Java client reads 1 kB records in transactions, de-duplicates them by ce_id, and writes a changelog, as a \
      worker with an empty handler does. The Python consumer and service use Apple's library and confluent-kafka; they \
      verify three tokens per notification, because Apple's library cannot decode a token without verifying it. They \
      run with online checks, as the library's README shows, and without. A local responder answers the checks, and \
      the library then remembers the chain for 15 minutes. \
      millrace-worker posts each notification to an endpoint that answers 200 without reading it. Every pair reads the \
      same topic, in alternating order except for millrace-worker, whose topic is written while it runs. \
      Benchmarks/Peers has the sources.
      """)

  @OptionGroup var output: OutputOptions
  @Option(help: "The pairs of each comparison.") var pairs = 5
  @Option(help: "The 1 kB records of a pair.") var records = 300_000
  @Option(help: "The notifications that a worker verifies in a pair.") var notifications = 12_000
  @Option(help: "The notifications that the Python consumer verifies in a pair.") var pythonNotifications = 1_500
  @Option(help: "The seconds of load for each server in a pair.") var seconds = 5
  @Option(help: "The number of open connections.") var connections = 64
  @Option(help: "The Python interpreter that has the packages of Benchmarks/Peers/requirements.txt.") var python: String
  @Option(help: "The directory with the jars of Kafka's Java client.") var jars: String
  @Option(help: "The project's directory.") var project = "."
  @Option(help: "Run only this comparison; may be repeated.") var only: [Part] = []

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case java, consumer, endpoint, service
  }

  func run() async throws {
    guard let bootstrap = BacklogStage.servers else { throw ValidationError("KAFKA_BOOTSTRAP_SERVERS is not set") }
    let directory = FileManager.default.temporaryDirectory.path + "/millrace-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch { print("could not remove \(directory)") }
    }
    let stage = PeersStage(
      bootstrap: bootstrap, directory: directory, peers: project + "/Benchmarks/Peers", python: python, jars: jars,
      statuses: try StatusServer())
    let parts = only.isEmpty ? Part.allCases : only
    var report = PeersReport()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await stage.statuses.run() }
      defer { group.cancelAll() }
      for part in Part.allCases where parts.contains(part) { report.comparisons += try await compare(part, stage) }
    }
    print(output.json ? report.line : report.table)
  }

  private func compare(_ part: Part, _ stage: PeersStage) async throws -> [PeersReport.Comparison] {
    switch part {
    case .java: [try await compareWithJava(stage)]
    case .consumer:
      [try await compareWithConsumer(stage, online: true), try await compareWithConsumer(stage, online: false)]
    case .endpoint: [try await compareEndpointWithConsumer(stage)]
    case .service:
      [try await compareWithService(stage, online: true), try await compareWithService(stage, online: false)]
    }
  }

  private func checks(_ online: Bool) -> String { online ? "online checks" : "no online checks" }

  private func compareWithJava(_ stage: PeersStage) async throws -> PeersReport.Comparison {
    var comparison = PeersReport.Comparison(
      name: "worker, headers only, 1 kB", peer: "Java client, transactions and changelog")
    for pair in 0..<pairs {
      let topics = try await RunTopics(on: stage.bootstrap, lanes: PeersStage.lanes)
      _ = try await topics.fill(records, on: stage.bootstrap) { $0.unsigned($1, bytes: 1_000) }
      comparison.pairs.append(
        try await inTurn(pair) {
          try stage.worker(topics, count: records)
        } peer: {
          try stage.javaClient(topics, count: records)
        })
      log(comparison)
    }
    return comparison
  }

  private func compareWithConsumer(_ stage: PeersStage, online: Bool) async throws -> PeersReport.Comparison {
    var comparison = PeersReport.Comparison(
      name: "worker, verified, 19 kB", peer: "Python consumer, \(checks(online))")
    for pair in 0..<pairs {
      let topics = try await RunTopics(on: stage.bootstrap, lanes: PeersStage.lanes)
      try stage.trust(try await topics.fill(notifications, on: stage.bootstrap) { try await $0.signed($1) })
      comparison.pairs.append(
        try await inTurn(pair) {
          try stage.worker(topics, count: notifications, root: stage.rootFile)
        } peer: {
          try stage.pythonConsumer(topics.input, count: pythonNotifications, online: online)
        })
      log(comparison)
    }
    return comparison
  }

  /// Runs `millrace-worker` with an endpoint that answers every request at once. The endpoint's CPU time is not counted.
  private func compareEndpointWithConsumer(_ stage: PeersStage) async throws -> PeersReport.Comparison {
    let endpoint = try stage.startEndpoint()
    defer { endpoint.process.stop() }
    var comparison = PeersReport.Comparison(
      name: "millrace-worker, verified, 19 kB", peer: "Python consumer, \(checks(true))")
    for _ in 0..<pairs {
      var processes = WorkerProcesses(bootstrap: stage.bootstrap, directory: stage.directory, project: project)
      processes.program = "millrace-worker"
      processes.entry = """
        bench: { families: [subscriptions], calls: [], handler: { url: "http://127.0.0.1:\(endpoint.port)/", \
        secretFile: "\(stage.secretFile)" } }
        """
      let ours = try await processes.cost(notifications) { try stage.trust($0) }
      // The consumer reads what the worker has read: both verify the same notifications.
      comparison.pairs.append(
        (ours, try stage.pythonConsumer(processes.input, count: pythonNotifications, online: true)))
      log(comparison)
    }
    return comparison
  }

  private func compareWithService(_ stage: PeersStage, online: Bool) async throws -> PeersReport.Comparison {
    let servers = try PeerServers(stage, project: project, online: online)
    defer { servers.stop() }
    try servers.waitUntilServing()
    let load = try LoadGenerator(bodies: servers.bodies, connections: connections, directory: stage.directory)
    func round(_ server: PeerServers.Server) throws -> PeerCost {
      let before = server.cpuSeconds
      let result = try load.run(port: server.port, seconds: seconds)
      guard result.failures == 0 else { throw BenchError("\(result.failures) requests to \(server.name) failed") }
      return PeerCost(
        perSecond: result.requestsPerSecond, cpu: (server.cpuSeconds - before) / max(1, result.requests) * 1e6)
    }
    // Also for the broker, whose Java compiles its code meanwhile.
    for server in [servers.service, servers.ingress] { _ = try load.run(port: server.port, seconds: 10) }
    var comparison = PeersReport.Comparison(
      name: "ingress, 19 kB", peer: "Python service, 2 processes, \(checks(online))")
    for pair in 0..<pairs {
      comparison.pairs.append(
        try await inTurn(pair) {
          try round(servers.ingress)
        } peer: {
          try round(servers.service)
        })
      log(comparison)
    }
    return comparison
  }

  /// Measures one pair, in reverse order if its number is odd.
  private func inTurn(
    _ pair: Int, ours: () throws -> PeerCost, peer: () throws -> PeerCost
  ) async throws -> (ours: PeerCost, peer: PeerCost) {
    guard pair.isMultiple(of: 2) else {
      let first = try peer()
      return (try ours(), first)
    }
    let first = try ours()
    return (first, try peer())
  }

  private func log(_ comparison: PeersReport.Comparison) {
    guard let pair = comparison.pairs.last else { return }
    ConsumeBenchmark.logger.notice(
      """
      \(comparison.name): \(pair.ours.text); \(comparison.peer): \(pair.peer.text)
      """)
  }
}

/// The throughput of one program in one round, and its CPU time.
struct PeerCost {
  /// Records or requests per second.
  var perSecond: Double
  /// The CPU time of each in microseconds.
  var cpu: Double

  init(perSecond: Double, cpu: Double) { (self.perSecond, self.cpu) = (perSecond, cpu) }

  /// Reads a line of count, seconds and CPU seconds; further numbers are ignored.
  init(_ line: String) throws {
    let numbers = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    guard numbers.count >= 3, numbers[0] > 0, numbers[1] > 0 else { throw BenchError("unexpected output: \(line)") }
    self.init(perSecond: numbers[0] / numbers[1], cpu: numbers[2] / numbers[0] * 1e6)
  }

  var text: String { "\(Int(perSecond))/s at \(Numbers.fixed(cpu, 1)) µs of CPU" }
}

/// The result of `bench peers`.
struct PeersReport {
  struct Comparison {
    var name: String
    var peer: String
    var pairs: [(ours: PeerCost, peer: PeerCost)] = []

    /// The median throughput in relation to the peer's.
    var speed: Double { Numbers.median(pairs.map { $0.ours.perSecond / $0.peer.perSecond }) }
    /// The median CPU time in relation to the peer's.
    var cost: Double { Numbers.median(pairs.map { $0.ours.cpu / $0.peer.cpu }) }
  }

  var comparisons: [Comparison] = []

  var table: String {
    var table = Table(titles: ["peers", "per second", "CPU µs", "peer", "per second", "CPU µs", "speed", "CPU"])
    table.rows = comparisons.map { comparison in
      func median(_ value: ((ours: PeerCost, peer: PeerCost)) -> Double) -> Double {
        Numbers.median(comparison.pairs.map(value))
      }
      return [
        comparison.name, Numbers.whole(median { $0.ours.perSecond }), Numbers.fixed(median { $0.ours.cpu }, 1),
        comparison.peer, Numbers.whole(median { $0.peer.perSecond }), Numbers.fixed(median { $0.peer.cpu }, 1),
        Numbers.fixed(comparison.speed, 2), Numbers.fixed(comparison.cost, 2),
      ]
    }
    return table.text
  }

  var line: String {
    var object = JSONObject()
    object["benchmark"] = .string("peers")
    object["comparisons"] = .array(
      comparisons.map { comparison in
        var part = JSONObject()
        part["name"] = .string(comparison.name)
        part["peer"] = .string(comparison.peer)
        part.set("speed", comparison.speed)
        part.set("cpu", comparison.cost)
        part["pairs"] = .array(
          comparison.pairs.map { pair in
            var round = JSONObject()
            round.set("perSecond", pair.ours.perSecond)
            round.set("cpuMicroseconds", pair.ours.cpu)
            round.set("peerPerSecond", pair.peer.perSecond)
            round.set("peerCPUMicroseconds", pair.peer.cpu)
            return .object(round)
          })
        return .object(part)
      })
    return object.line
  }
}
