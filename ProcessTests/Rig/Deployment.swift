// One installation of Millrace: a configuration, an embedded or external cluster with its topics, and processes.

internal import Foundation
package import KafkaClient
package import MillraceCore
package import MillraceRecords

package struct Deployment: Sendable {
  package let rig: Rig
  /// The directory for the configuration and the logs of all processes.
  package let directory: String
  package let configuration: MillraceConfiguration
  /// The client configuration of this program.
  package let kafka: KafkaConfiguration
  package let log: KafkaLog
  private let cluster: EmbeddedClusterProcess?
  /// The environment variables that name the cluster.
  private let environment: [String: String]

  /// Whether workers commit in transactions, which the embedded cluster does not have.
  package var isTransactional: Bool { cluster == nil }
  /// The prefix of every topic name.
  package var prefix: String { configuration.topics.prefix }
  /// The path of the configuration.
  private var path: String { "\(directory)/millrace.yaml" }
  /// The number of lanes of a worker.
  package var lanes: Int { configuration.topics.lanes }

  /// Starts the cluster if needed, and creates the topics.
  ///
  /// - Parameters:
  ///   - directory: The directory, which ``Rig/makeDirectory(_:)`` has created.
  ///   - hasShortSessions: Whether workers use the shortest session timeouts that brokers allow, so the run does not
  ///     wait for them.
  ///   - settings: The rest of the configuration, as YAML.
  package init(
    _ rig: Rig, in directory: String, prefix: String, lanes: Int, hasShortSessions: Bool = true, settings: String
  ) async throws {
    (self.rig, self.directory) = (rig, directory)
    let path = "\(directory)/millrace.yaml"
    let isShort = rig.bootstrapServers != nil && hasShortSessions
    // If members die while they join, the group waits for them for the poll interval.
    let properties =
      isShort
      ? "{ session.timeout.ms: \"6000\", heartbeat.interval.ms: \"500\", max.poll.interval.ms: \"12000\" }" : "{}"
    let text = """
      kafka:
        durability: relaxed # the embedded cluster has one broker and no topic settings
        properties: \(properties)
      topics: { directory: \(rig.topics), prefix: "\(prefix)", lanes: \(lanes) }
      admin: { host: 127.0.0.1, port: 0 }
      \(settings)
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    cluster =
      rig.bootstrapServers == nil ? try await EmbeddedClusterProcess(rig, in: directory, configuration: path) : nil
    do {
      environment = ["MILLRACE_KAFKA_BOOTSTRAP_SERVERS": cluster?.address ?? rig.bootstrapServers ?? ""]
      configuration = try LoadedConfiguration.load(path: path, environment: environment).configuration
      kafka = try configuration.kafka.client(clientID: "millrace-scenarios").eager
      log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
      if cluster == nil {
        try await succeed(["topics", "apply", "--yes"], file: "topics")
        try await waitUntilEveryBrokerKnowsTheTopics()
      }
    } catch {
      cluster?.end()
      throw error
    }
  }

  /// A broker learns of new topics a moment after the one that was asked, and until then says that they are missing.
  private func waitUntilEveryBrokerKnowsTheTopics() async throws {
    let brokers = kafka.bootstrapServers.split(separator: ",").map { server in
      var kafka = kafka
      kafka.bootstrapServers = String(server)
      return KafkaAdmin(kafka)
    }
    try await wait(for: "every broker to know the topics") {
      var known: Set<[String]> = []
      for broker in brokers { known.insert(try await broker.topicNames(withPrefix: prefix, timeout: .seconds(30))) }
      return known.count == 1
    }
  }

  /// Ends the cluster if it belongs to the deployment.
  package func end() { cluster?.end() }

  // MARK: - Processes

  /// Starts a program.
  /// - Parameter name: The name of its log.
  package func start(_ program: Program, _ environment: [String: String] = [:], log name: String) throws -> Child {
    try Child(
      rig.program(program.executable), program.arguments + ["--config", path],
      environment: self.environment.merging(environment) { $1 },
      log: "\(directory)/\(name).log")
  }

  /// Starts the ingress and waits until it is ready.
  package func startIngress(port: Int, admin: Int) async throws -> Child {
    let ingress = try start(
      Program("millrace-ingress"),
      [
        "MILLRACE_INGRESS_HOST": "127.0.0.1", "MILLRACE_INGRESS_PORT": "\(port)", "MILLRACE_ADMIN_PORT": "\(admin)",
      ], log: "ingress")
    do {
      try await Web.waitUntilReady("http://127.0.0.1:\(admin)/readyz", of: ingress, before: rig.deadline)
    } catch {
      ingress.send(.kill)
      throw error
    }
    return ingress
  }

  // MARK: - The command line

  /// Runs a command of `millrace`.
  /// - Parameter file: The name of the files for its output.
  package func millrace(_ arguments: [String], file: String) async throws -> CommandResult {
    try await CommandResult(
      of: rig.program("millrace"), arguments + ["--config", path], name: "millrace", environment: environment,
      file: "\(directory)/\(file)", before: rig.deadline)
  }

  /// Runs a command of `millrace` that must succeed.
  package func succeed(_ arguments: [String], file: String) async throws {
    let status = try await millrace(arguments, file: file).status
    guard status == 0 else {
      throw RunError(
        "millrace \(arguments.joined(separator: " ")) ended with status \(status); see \(directory)/\(file).log")
    }
  }

  // MARK: - Waiting

  /// Waits until a condition holds, up to the time limit of the run.
  ///
  /// - Parameters:
  ///   - state: Describes the state for the error.
  ///   - tend: Runs between two checks.
  ///   - pause: The shortest time between two checks.
  nonisolated(nonsending)
    package func wait(
      for what: String, state: () -> String = { "" },
      betweenChecks tend: nonisolated(nonsending) () async throws -> Void = {},
      every pause: Duration = .milliseconds(20),
      until holds: nonisolated(nonsending) () async throws -> Bool
    ) async throws
  {
    while true {
      let checked = ContinuousClock.now
      if try await holds() { return }
      guard ContinuousClock.now < rig.deadline else {
        throw RunError("time limit reached, waiting for \(what)\(state()); logs in \(directory)")
      }
      try await tend()
      // Sleep as long as the check took, to leave the CPU to the workers.
      try await Task.sleep(for: max(pause, ContinuousClock.now - checked))
    }
  }
}
