// The deployment of one worker: a directory with certificate chain and configuration, an embedded or external cluster,
// and the worker's topics.

import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import Processes

/// The programs, files and cluster of a run.
struct Tools: Sendable {
  /// The directory of the executables.
  var programs: String
  /// The directory of the topic files.
  var topics: String
  /// The directory for configurations and logs.
  var directory: String
  /// The cluster's brokers; nil: an embedded cluster for each deployment.
  var bootstrapServers: String?
  /// The three nodes that `faults` kills and pauses; nil if there are none.
  var nodes: KafkaNodes?
  /// The prefix of every topic name, by which tests delete the topics.
  var prefix: String
  /// The time limit of the run.
  var deadline: ContinuousClock.Instant

  func program(_ name: String) -> String { "\(programs)/\(name)" }
}

struct Deployment: Sendable {
  /// The size of a worker.
  struct Size: Sendable {
    var lanes: Int
    var recordsInFlight: Int
    /// Whether to use the shortest session timeouts that brokers allow, so the run does not wait for them.
    var hasShortSessions = true

    /// Few records in flight, so the suspicion after several kills ends during the run.
    static let usual = Size(lanes: 4, recordsInFlight: 6)
    /// Enough records in flight for many to be committed in one transaction.
    static let deep = Size(lanes: 2, recordsInFlight: 48)
    /// The worker's default session timeouts.
    static let asDeployed = Size(lanes: 12, recordsInFlight: 6, hasShortSessions: false)
  }

  static let worker = "crash"
  static let retryDelays = [Duration.milliseconds(300), .seconds(2)]
  let name: String
  let directory: String
  let tools: Tools
  let configuration: MillraceConfiguration
  let topics: WorkerTopics
  let log: KafkaLog
  /// The client configuration of this program.
  let kafka: KafkaConfiguration
  let lanes: Int
  private let cluster: EmbeddedClusterProcess?

  var isTransactional: Bool { cluster == nil }
  var path: String { "\(directory)/millrace.yaml" }

  /// Starts the cluster if needed, and creates the topics.
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

  /// The environment variables that name the cluster.
  var environment: [String: String] { EmbeddedClusterProcess.environment(configuration.kafka.bootstrapServers) }

  /// Ends the cluster if it belongs to the deployment.
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
    // If members die while they join, the group waits for them for the poll interval.
    let properties =
      tools.bootstrapServers == nil || !size.hasShortSessions
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
