// One worker's deployment: a directory with chain and configuration, a cluster of its own or the one that was named, and
// the worker's topics on it.

import AppStore
import AppStoreSigning
import Foundation
import Kafka
import Millrace
import MillraceTesting
import Processes

/// Where programs and topic files are, and what a run is made of.
struct Tools: Sendable {
  /// The directory of the executables.
  var programs: String
  /// The directory of the topic files.
  var topics: String
  /// Where runs put their files.
  var directory: String
  /// The cluster to use; nil: an embedded one for each deployment.
  var bootstrapServers: String?
  /// When everything must be over.
  var deadline: ContinuousClock.Instant

  func program(_ name: String) -> String { "\(programs)/\(name)" }
}

struct Deployment: Sendable {
  /// How much a worker does at a time.
  struct Size: Sendable {
    var lanes: Int
    var recordsInFlight: Int

    /// Few records in hand, so that the suspicion after kills in a row passes while the run lasts.
    static let usual = Size(lanes: 4, recordsInFlight: 6)
    /// Enough in hand for many to be done in one commit.
    static let deep = Size(lanes: 2, recordsInFlight: 48)
  }

  static let worker = "crash"
  static let retryDelays = [Duration.milliseconds(300), .seconds(2)]
  let name: String
  let directory: String
  let tools: Tools
  let configuration: MillraceConfiguration
  let topics: WorkerTopics
  let log: KafkaLog
  /// What clients of this program are made of.
  let kafka: KafkaConfiguration
  let lanes: Int
  private let cluster: EmbeddedClusterProcess?

  var isTransactional: Bool { cluster == nil }
  var path: String { "\(directory)/millrace.yaml" }

  /// Starts what the deployment stands on.
  init(
    _ name: String, _ size: Size, prefix: String, chain: SigningChain, app: SampleApp, tools: Tools
  ) async throws {
    (self.name, self.lanes, self.tools) = (name, size.lanes, tools)
    directory = "\(tools.directory)/\(name)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let root = "\(directory)/root.pem"
    try Data(chain.rootPEM.utf8).write(to: URL(fileURLWithPath: root))
    let path = "\(directory)/millrace.yaml"
    let text = Self.yaml(prefix: prefix, size, root: root, app: app, tools: tools)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let address: String
    if let servers = tools.bootstrapServers {
      (cluster, address) = (nil, servers)
    } else {
      let cluster = try await EmbeddedClusterProcess(
        tools.program("millrace"), configuration: path, directory: directory, before: tools.deadline)
      (self.cluster, address) = (cluster, cluster.address)
    }
    do {
      let configuration = try LoadedConfiguration.load(
        path: path, environment: EmbeddedClusterProcess.environment(address)
      ).configuration
      let kafka = try configuration.kafka.client(clientID: "millrace-crash").eager
      if cluster == nil { try await Self.createTopics(path, address, directory, tools) }
      self.configuration = configuration
      self.kafka = kafka
      log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
      topics = WorkerTopics(
        worker: Self.worker, inputs: [NotificationFamily.subscriptions, .tests].map { prefix + $0.topic },
        delays: Self.retryDelays, prefix: prefix)
    } catch {
      cluster?.end()
      throw error
    }
  }

  /// Starts a process of the worker.
  func startWorker(_ name: String, _ environment: [String: String]) throws -> Child {
    try Child(
      tools.program("millrace-crash-worker"), ["--config", path],
      environment: self.environment.merging(environment) { $1 }, log: "\(directory)/\(name).log")
  }

  /// What finds the cluster.
  var environment: [String: String] { EmbeddedClusterProcess.environment(configuration.kafka.bootstrapServers) }

  /// Ends the cluster, where it is the deployment's own.
  func end() { cluster?.end() }

  private static func createTopics(_ path: String, _ address: String, _ directory: String, _ tools: Tools) async throws
  {
    let apply = try Child(
      tools.program("millrace"), ["topics", "apply", "--yes", "--config", path],
      environment: EmbeddedClusterProcess.environment(address),
      log: "\(directory)/topics.log")
    guard await apply.wait() == .exit(0) else { throw RunError("millrace topics apply failed; see \(apply.log)") }
  }

  private static func yaml(prefix: String, _ size: Size, root: String, app: SampleApp, tools: Tools) -> String {
    // A group waits for members that died while they joined as long as the poll interval says.
    let properties =
      tools.bootstrapServers == nil
      ? "{}"
      : "{ session.timeout.ms: \"6000\", heartbeat.interval.ms: \"500\", max.poll.interval.ms: \"12000\" }"
    return """
      kafka:
        durability: relaxed # the embedded cluster has one broker and no topic settings
        properties: \(properties)
      topics: { directory: \(tools.topics), prefix: \(prefix), lanes: \(size.lanes) }
      trust: { roots: [\(root)] }
      apps:
        - bundleId: \(app.bundleId)
          appAppleId: \(app.appAppleId)
          environments: [\(app.environment.rawValue)]
      workers:
        - name: \(worker)
          retryDelays: [300ms, 2s]
          recordsInFlight: \(size.recordsInFlight)
      admin: { host: 127.0.0.1, port: 0 }

      """
  }
}
