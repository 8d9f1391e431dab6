// Runs an embedded Kafka cluster in its own process, so that its CPU time does not count for others.
import ArgumentParser
import Foundation
import KafkaClient
import MillraceWorker

struct Cluster: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs an embedded cluster with the project's topics until it is stopped.", shouldDisplay: false)

  @Option(help: "The directory of the topic files.") var topics: String
  @Option(help: "An additional topic that no file declares; may be repeated.") var extra: [String] = []
  @Option(help: "The partitions of each topic whose file declares no number.") var lanes = 12
  @Option(help: "The file to write the bootstrap servers to.") var bootstrapFile: String

  func run() async throws {
    let cluster = try EmbeddedCluster()
    for topic in try TopicCatalog.load(directory: topics, prefix: "", lanes: lanes).topics {
      try cluster.createTopic(topic.topic, partitions: topic.lanes)
    }
    for name in extra { try cluster.createTopic(name, partitions: lanes) }
    try Data(cluster.bootstrapServers.utf8).write(to: URL(fileURLWithPath: bootstrapFile), options: .atomic)
    try await Signals.termination()
    withExtendedLifetime(cluster) {}
  }
}

/// The cluster as a child process.
struct ClusterProcess {
  let bootstrap: String
  private let process: ChildProcess
  private let directory: String

  /// - Parameter project: The project's directory.
  static func start(project: String, extra: [String], lanes: Int = 12) async throws -> ClusterProcess {
    let directory = FileManager.default.temporaryDirectory.path + "/millrace-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let file = directory + "/bootstrap"
    let process = try ChildProcess(
      own,
      ["cluster", "--topics", project + "/topics", "--lanes", "\(lanes)", "--bootstrap-file", file]
        + extra.flatMap { ["--extra", $0] })
    for _ in 0..<400 where !FileManager.default.fileExists(atPath: file) && process.isRunning {
      try await Task.sleep(for: .milliseconds(50))
    }
    guard let address = FileManager.default.contents(atPath: file) else { throw BenchError("no cluster started") }
    return ClusterProcess(bootstrap: String(decoding: address, as: UTF8.self), process: process, directory: directory)
  }

  func stop() {
    process.stop()
    do { try FileManager.default.removeItem(atPath: directory) } catch { print("could not remove \(directory)") }
  }
}
