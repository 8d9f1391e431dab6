// The topics and processes of `bench growth`.
import AppStore
import AppStoreSigning
import Dispatch
import Foundation
import KafkaClient
import Synchronization

struct GrowthStage {
  let bootstrap: String
  let directory: String

  private static let lanes = 12

  func headers(_ processes: Int, _ count: Int) async throws -> PeerCost {
    try await work(processes, count, isVerified: false) { $0.unsigned($1, bytes: 1_000) }
  }

  func verified(_ processes: Int, _ count: Int) async throws -> PeerCost {
    try await work(processes, count, isVerified: true) { try await $0.signed($1) }
  }

  /// Starts processes that share the lanes, then writes the records and waits until they are processed.
  private func work(
    _ processes: Int, _ count: Int, isVerified: Bool,
    _ make: (inout ConsumeStage, Int) async throws -> [ProducerRecord]
  ) async throws -> PeerCost {
    let topics = try await RunTopics(on: bootstrap, lanes: Self.lanes)
    var stage = try await ConsumeStage(bootstrap: bootstrap, lanes: Self.lanes, prefix: topics.prefix)
    var arguments = ["backlog", "--bootstrap", bootstrap, "--prefix", topics.prefix]
    // Lanes get equally many records, so each process knows its share.
    arguments += ["--lanes", "\(Self.lanes / processes)", "--count", "\(count / processes)"]
    arguments += ["--warm-up", "\(count / processes / 5)"]
    if isVerified {
      let root = directory + "/root.der"
      try Data(stage.chain.rootDER).write(to: URL(fileURLWithPath: root))
      arguments += ["--root", root]
    }
    // Signing takes longer than verifying, so it must not limit the workers.
    var batches: [[ProducerRecord]] = []
    for first in stride(from: 0, to: count, by: 12_000) {
      batches.append(try await make(&stage, min(12_000, count - first)))
    }
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let logs = (0..<processes).map { directory + "/\(topics.prefix)\($0).log" }
    let children = try logs.map { try ChildProcess(own, arguments, log: $0) }
    defer { for child in children { child.stop() } }
    for (child, log) in zip(children, logs) {
      try await wait(for: "its lanes", child, log) { $0.contains("has its lanes") }
    }
    let filling = stage
    try await filling.producing { for batch in batches { try await stage.fill(batch) } }
    var results: [BacklogResult] = []
    for (child, log) in zip(children, logs) {
      let text = try await wait(for: "the end", child, log) { _ in !child.isRunning }
      results.append(try BacklogResult(String(text.split(separator: "\n").last ?? "")))
    }
    let handled = results.reduce(0) { $0 + $1.handled }
    guard let slowest = results.map(\.seconds).max(), handled > 0 else { throw BenchError("no process has a result") }
    return PeerCost(
      perSecond: Double(handled) / slowest, cpu: results.reduce(0) { $0 + $1.cpuSeconds } / Double(handled) * 1e6)
  }

  @discardableResult
  private func wait(
    for what: String, _ child: ChildProcess, _ log: String, _ holds: (String) -> Bool
  ) async throws -> String {
    for _ in 0..<6_000 {
      let isRunning = child.isRunning
      let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
      if holds(text) { return text }
      guard isRunning else { throw BenchError("a worker ended, waiting for \(what): \(text)") }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw BenchError("a worker did not reach \(what) within two minutes; see \(log)")
  }

  /// Starts a worker with a ledger.
  func start(lanes: Int, entries: Int) async throws -> GrowthReport.Start {
    let result = try await restore(lanes: lanes, entries) { $0.ledger(of: $1, $2) }
    guard result.entries == entries else { throw BenchError("only \(result.entries) of \(entries) entries restored") }
    ConsumeBenchmark.logger.notice(
      "\(lanes) lanes, \(entries) entries: \(Numbers.fixed(result.restoring, 2)) s, \(Int(result.peakMiB)) MiB")
    return GrowthReport.Start(lanes: lanes, result: result)
  }

  private func restore(
    lanes: Int, _ count: Int, _ make: @Sendable @escaping (ConsumeStage, String, Range<Int>) -> [ProducerRecord]
  ) async throws -> RestoreResult {
    let topics = try await RunTopics(on: bootstrap, lanes: lanes)
    let stage = try await ConsumeStage(bootstrap: bootstrap, lanes: lanes, prefix: topics.prefix)
    try await stage.producing {
      for first in stride(from: 0, to: count, by: 100_000) {
        try await stage.fill(make(stage, topics.names.ledger, first..<min(count, first + 100_000)))
      }
    }
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return try RestoreResult(
      try ChildProcess.output(of: own, ["restore", "--bootstrap", bootstrap, "--prefix", topics.prefix]))
  }
}

/// Processes of the ingress with one configuration.
final class IngressProcesses {
  private let bodies: [[UInt8]]
  private let directory: String
  private var servers: [(port: Int, process: ChildProcess)] = []

  init(bootstrap: String, directory: String, project: String, count: Int) throws {
    self.directory = directory
    let now = Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000))
    let chain = try SigningChain.generate(at: now)
    var samples = SampleNotifications(chain: chain, seed: 1)
    bodies = try (0..<96).map { _ in try samples.next(SampleKind(.didRenew), signedDate: now).body }
    try Data(chain.rootDER).write(to: URL(fileURLWithPath: directory + "/ingress-root.der"))
    let configuration = directory + "/growth.yaml"
    let yaml = """
      kafka: { bootstrapServers: "\(bootstrap)", durability: relaxed }
      topics:
        directory: \(URL(fileURLWithPath: project + "/topics").standardizedFileURL.path)
        prefix: "bench-\(UUID().uuidString.prefix(8).lowercased())."
      trust: { roots: [\(directory)/ingress-root.der] }
      apps: [{ bundleId: \(SampleApp().bundleId), appAppleId: \(SampleApp().appAppleId), environments: [Production] }]
      ingress: { host: 127.0.0.1 }
      admin: { host: 127.0.0.1 }
      """
    try Data(yaml.utf8).write(to: URL(fileURLWithPath: configuration))
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let programs = (own as NSString).deletingLastPathComponent
    _ = try ChildProcess.output(of: programs + "/millrace", ["topics", "apply", "--yes", "--config", configuration])
    let ports = try FreePorts.find(2 * count)
    for index in 0..<count {
      servers.append(
        (
          ports[2 * index],
          try ChildProcess(
            programs + "/millrace-ingress", ["--config", configuration],
            environment: [
              "MILLRACE_INGRESS_PORT": "\(ports[2 * index])", "MILLRACE_ADMIN_PORT": "\(ports[2 * index + 1])",
            ], log: log(index))
        ))
    }
  }

  private func log(_ index: Int) -> String { directory + "/ingress-\(index).log" }

  func waitUntilServing() throws {
    for (index, server) in servers.enumerated() {
      var tries = 400
      while !FreePorts.isOpen(server.port) {
        tries -= 1
        guard tries > 0, server.process.isRunning else {
          let text = FileManager.default.contents(atPath: log(index)) ?? Data()
          throw BenchError("an ingress did not start: \(String(decoding: text, as: UTF8.self))")
        }
        usleep(50_000)
      }
    }
  }

  /// Posts to the first processes, which share the connections.
  func load(_ processes: Int, connections: Int, seconds: Int) throws -> PeerCost {
    let loads = try LoadGenerator(bodies: bodies, connections: connections / processes, directory: directory)
    let loaded = Array(servers.prefix(processes))
    let before = loaded.map(\.process.cpuSeconds)
    let results = Mutex<[Result<LoadResult, any Error>]>([])
    let ports = loaded.map(\.port)
    DispatchQueue.concurrentPerform(iterations: processes) { index in
      let result = Result { try loads.run(port: ports[index], seconds: seconds) }
      results.withLock { $0.append(result) }
    }
    let answers = try results.withLock { try $0.map { try $0.get() } }
    let failures = answers.reduce(0) { $0 + $1.failures }
    guard failures == 0 else { throw BenchError("\(failures) requests failed") }
    let cpu = zip(loaded, before).reduce(0) { $0 + $1.0.process.cpuSeconds - $1.1 }
    return PeerCost(
      perSecond: answers.reduce(0) { $0 + $1.requestsPerSecond },
      cpu: cpu / max(1, answers.reduce(0) { $0 + $1.requests }) * 1e6)
  }

  func stop() { for server in servers { server.process.stop() } }
}
