// Measures the time from a notification's POST until a reader of committed records has what a worker made of it.
import AppStore
import AppStoreSigning
import ArgumentParser
import AsyncHTTPClient
import Foundation
import KafkaClient
import MillraceWorker
import NIOCore
import Synchronization

struct LatencyBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latency",
    abstract: "Compares the way of a notification with a Java program that copies in transactions, on a real Kafka.",
    discussion: """
      KAFKA_BOOTSTRAP_SERVERS names the cluster. Notifications are posted to millrace-ingress at a steady rate; \
      millrace-subscriptions writes a row for each. The Java program produces records of the same size at the same rate \
      and copies each into another topic in a transaction. Neither waits for the one before. The time of each ends when \
      this program has read the row or the copy with isolation.level=read_committed. Rounds alternate.
      """)

  @OptionGroup var output: OutputOptions
  @Option(help: "Notifications per second; may be repeated.") var rate: [Int] = [100, 500]
  @Option(help: "The measured seconds of a round.") var seconds = 15
  @Option(help: "The seconds before, which are not measured.") var warmUp = 5
  @Option(help: "The pairs of rounds for each rate.") var pairs = 5
  @Option(help: "The directory with the jars of Kafka's Java client.") var jars: String
  @Option(help: "The project's directory.") var project = "."

  func run() async throws {
    guard let bootstrap = BacklogStage.servers else { throw ValidationError("KAFKA_BOOTSTRAP_SERVERS is not set") }
    let directory = FileManager.default.temporaryDirectory.path + "/millrace-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch { print("could not remove \(directory)") }
    }
    let stage = try await LatencyStage(bootstrap: bootstrap, directory: directory, project: project, jars: jars)
    defer { stage.stop() }
    try await stage.waitUntilServing()
    // For the brokers, whose Java compiles its code meanwhile, and for topics that only exist after the first transaction.
    let rehearsal = LatencyStage.Round(perSecond: 200, seconds: 20, first: 0)
    _ = (try await stage.post(rehearsal), try await stage.copy(rehearsal))
    var report = LatencyReport()
    for rate in rate {
      var result = LatencyReport.Rate(perSecond: rate)
      let measured = LatencyStage.Round(perSecond: rate, seconds: seconds + warmUp, first: rate * warmUp)
      for pair in 0..<pairs {
        // In reverse order in every second pair.
        var peer = pair.isMultiple(of: 2) ? nil : try await stage.copy(measured)
        let ours = try await stage.post(measured)
        if peer == nil { peer = try await stage.copy(measured) }
        result.pairs.append((ours, peer ?? []))
        ConsumeBenchmark.logger.notice("\(result.lastPair)")
      }
      report.rates.append(result)
    }
    print(output.json ? report.line : report.table)
  }
}

/// The processes and topics of `bench latency`.
final class LatencyStage {
  /// One round of load.
  struct Round {
    var perSecond: Int
    var seconds: Int
    /// The number of the first record that is measured.
    var first: Int
    var count: Int { perSecond * seconds }
    /// The microseconds between two records.
    var interval: Int64 { 1_000_000 / Int64(perSecond) }
  }

  private let bootstrap: String
  private let directory: String
  private let jars: String
  /// The directory of the peers' sources.
  private let peers: String
  private let prefix = "bench-\(UUID().uuidString.prefix(8).lowercased())."
  private let port: Int
  private let admin: [Int]
  private let processes: [ChildProcess]
  private let log: KafkaLog
  private var samples: SampleNotifications

  init(bootstrap: String, directory: String, project: String, jars: String) async throws {
    (self.bootstrap, self.directory, self.jars) = (bootstrap, directory, jars)
    peers = project + "/Benchmarks/Peers"
    let chain = try SigningChain.generate(at: Timestamp(microseconds: Self.now()))
    samples = SampleNotifications(chain: chain, seed: 1)
    let ports = try FreePorts.find(3)
    (port, admin) = (ports[0], [ports[1], ports[2]])
    try Data(chain.rootDER).write(to: URL(fileURLWithPath: directory + "/root.der"))
    let app = SampleApp()
    let yaml = """
      kafka: { bootstrapServers: "\(bootstrap)" }
      topics: { directory: \(URL(fileURLWithPath: project + "/topics").standardizedFileURL.path), prefix: "\(prefix)" }
      trust: { roots: [\(directory)/root.der] }
      apps: [{ bundleId: \(app.bundleId), appAppleId: \(app.appAppleId), environments: [Production] }]
      workers: { subscriptions: {} }
      ingress: { host: 127.0.0.1, port: \(port) }
      admin: { host: 127.0.0.1 }
      logging: { level: warning }
      """
    let configuration = directory + "/millrace.yaml"
    try Data(yaml.utf8).write(to: URL(fileURLWithPath: configuration))
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let programs = (own as NSString).deletingLastPathComponent
    _ = try ChildProcess.output(of: programs + "/millrace", ["topics", "apply", "--yes", "--config", configuration])
    let administration = KafkaAdmin(KafkaConfiguration(bootstrapServers: bootstrap, clientID: "bench-admin"))
    for name in ["java-input", "java-output"] {
      try await administration.createTopic(
        prefix + name, partitions: 4, replicationFactor: 3, settings: ["min.insync.replicas": "2"],
        timeout: .seconds(30))
    }
    processes = try zip(["millrace-ingress", "millrace-subscriptions"], admin).map { name, port in
      try ChildProcess(
        programs + "/" + name, ["--config", configuration], environment: ["MILLRACE_ADMIN_PORT": "\(port)"],
        log: directory + "/" + name + ".log")
    }
    log = try await KafkaLog.connect(
      KafkaConfiguration(bootstrapServers: bootstrap, clientID: "bench"), timeout: .seconds(30))
  }

  /// Waits until both processes are ready.
  func waitUntilServing() async throws {
    for (process, port) in zip(processes, admin) {
      let limit = ContinuousClock.now + .seconds(120)
      while try ChildProcess.output(
        of: "sh", ["-c", "curl --silent --fail http://127.0.0.1:\(port)/readyz >/dev/null && echo ready || true"]
      )
      .isEmpty {
        guard process.isRunning, ContinuousClock.now < limit else {
          throw BenchError("a process did not become ready; see the logs in \(directory)")
        }
        try await Task.sleep(for: .milliseconds(200))
      }
    }
  }

  func stop() { for process in processes { process.stop() } }

  private static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1e6) }

  // MARK: - Rounds

  /// Posts notifications, and returns the times in milliseconds until their rows were read.
  func post(_ round: Round) async throws -> [Double] {
    let signed = Timestamp(microseconds: Self.now())
    let notifications = try (0..<round.count).map { _ in
      try samples.next(SampleKind(.subscribed, .initialBuy), signedDate: signed)
    }
    let url = "http://127.0.0.1:\(port)/v2"
    var start: Int64 = 0
    let arrivals = try await observing(prefix + "appstore.subscriptions", round.count) {
      start = Self.now() + 100_000
      let begin = start
      try await withThrowingDiscardingTaskGroup { group in
        for (number, notification) in notifications.enumerated() {
          let wait = begin + Int64(number) * round.interval - Self.now()
          if wait > 0 { try await Task.sleep(for: .microseconds(wait)) }
          group.addTask {
            var request = HTTPClientRequest(url: url)
            request.method = .POST
            request.body = .bytes(notification.body)
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
            guard response.status == .ok else { throw BenchError("the ingress answered \(response.status)") }
          }
        }
      }
    }
    return try notifications.enumerated().dropFirst(round.first).map { number, notification in
      guard let arrival = arrivals[notification.orderingKey] else { throw BenchError("a row is missing") }
      return Double(arrival - start - Int64(number) * round.interval) / 1_000
    }
  }

  /// Lets the Java program produce and copy, and returns the times in milliseconds until the copies were read.
  func copy(_ round: Round) async throws -> [Double] {
    let classes = directory + "/classes"
    if !FileManager.default.fileExists(atPath: classes) {
      _ = try ChildProcess.output(
        of: "javac", ["-cp", jars + "/*", "-d", classes, peers + "/TransactionalCopy.java"])
    }
    let bytes = try samples.next(SampleKind(.subscribed, .initialBuy), signedDate: Timestamp(microseconds: Self.now()))
      .jws.count
    let arrivals = try await observing(prefix + "java-output", round.count) {
      let program = try ChildProcess(
        "/usr/bin/env",
        [
          "java", "-cp", "\(classes):\(jars)/*", "TransactionalCopy", bootstrap, prefix + "java-input",
          prefix + "java-output", "\(round.perSecond)", "\(round.count)", "\(bytes)",
        ], log: directory + "/java.log")
      while program.isRunning { try await Task.sleep(for: .milliseconds(100)) }
    }
    return arrivals.compactMap { key, arrival in
      let parts = key.split(separator: " ").compactMap { Int64($0) }
      return parts.count == 2 && parts[1] >= round.first ? Double(arrival - parts[0]) / 1_000 : nil
    }
  }

  /// Reads what is new in a topic while `body` runs, until there are records with `count` keys.
  /// - Returns: When the first record of each key was read, in microseconds since 1970.
  private func observing(
    _ topic: String, _ count: Int, _ body: () async throws -> Void
  ) async throws -> [String: Int64] {
    let timeout = Duration.seconds(30)
    let arrivals = Arrivals()
    let lanes = try await log.partitionCounts(of: [topic], timeout: timeout)[topic] ?? 0
    let partitions = (0..<lanes).map { TopicPartition(topic: topic, partition: Int32($0)) }
    let ends = try await log.highWatermarks(of: partitions, timeout: timeout).mapValues(\.upperBound)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (partition, end) in ends {
        group.addTask { [log] in
          try await log.scan(partition, from: .offset(end), to: .never, upTo: 100) { page in
            arrivals.add(page, at: Self.now())
          }
        }
      }
      defer { group.cancelAll() }
      try await body()
      let limit = ContinuousClock.now + timeout
      while arrivals.times.withLock(\.count) < count {
        guard ContinuousClock.now < limit else {
          throw BenchError("\(arrivals.times.withLock(\.count)) of \(count) records came to \(topic)")
        }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    return arrivals.times.withLock(\.self)
  }
}

/// When the first record of each key was read.
private final class Arrivals: Sendable {
  let times = Mutex<[String: Int64]>([:])

  func add(_ page: [ConsumerRecord], at time: Int64) {
    times.withLock { times in
      for record in page {
        let key = String(decoding: record.key ?? [], as: UTF8.self)
        if times[key] == nil { times[key] = time }
      }
    }
  }
}

extension Timestamp {
  fileprivate init(microseconds: Int64) { self.init(millisecondsSince1970: microseconds / 1_000) }
}

/// The result of `bench latency`, in milliseconds.
struct LatencyReport {
  struct Rate {
    var perSecond: Int
    var pairs: [(ours: [Double], peer: [Double])] = []

    /// The median of a percentile over the rounds: ours, the peer's, and of their ratios.
    func medians(_ part: Double) -> (ours: Double, peer: Double, ratio: Double) {
      let values = pairs.map { (Numbers.percentile($0.ours, part), Numbers.percentile($0.peer, part)) }
      return (
        Numbers.median(values.map(\.0)), Numbers.median(values.map(\.1)), Numbers.median(values.map { $0.0 / $0.1 })
      )
    }

    var lastPair: String {
      guard let pair = pairs.last else { return "" }
      let texts = [pair.ours, pair.peer].map { times in
        "p50 \(Numbers.fixed(Numbers.median(times), 1)) ms, p99 \(Numbers.fixed(Numbers.percentile(times, 0.99), 1)) ms"
      }
      return "\(perSecond)/s: \(texts[0]); Java: \(texts[1])"
    }
  }

  var rates: [Rate] = []

  var table: String {
    var table = Table(titles: ["per second", "percentile", "Millrace ms", "Java ms", "ratio"])
    for rate in rates {
      for (name, part) in [("p50", 0.5), ("p99", 0.99)] {
        let (ours, peer, ratio) = rate.medians(part)
        table.rows.append([
          "\(rate.perSecond)", name, Numbers.fixed(ours, 1), Numbers.fixed(peer, 1), Numbers.fixed(ratio, 2),
        ])
      }
    }
    return table.text
  }

  var line: String {
    var object = JSONObject()
    object["benchmark"] = .string("latency")
    object["rates"] = .array(
      rates.map { rate in
        var part = JSONObject()
        part["perSecond"] = .integer(Int64(rate.perSecond))
        for (name, percentile) in [("p50", 0.5), ("p99", 0.99)] {
          let (ours, peer, ratio) = rate.medians(percentile)
          part.set(name, ours)
          part.set(name + "Java", peer)
          part.set(name + "Ratio", ratio)
        }
        return .object(part)
      })
    return object.line
  }
}
