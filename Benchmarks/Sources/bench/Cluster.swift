// An embedded Kafka cluster in a process of its own, so that its work is not counted as anybody else's.
import ArgumentParser
import Foundation
import Kafka
import Millrace

struct Cluster: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "An embedded cluster with the project's topics; runs until it is stopped.", shouldDisplay: false)

  @Option(help: "The directory of the topic files.") var topics: String
  @Option(help: "Topics that no file declares; repeatable.") var extra: [String] = []
  @Option(help: "Partitions of each topic whose file states no number.") var lanes = 12
  @Option(help: "Where to write the address.") var bootstrapFile: String

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
    do { try FileManager.default.removeItem(atPath: directory) } catch { print("left behind: \(directory)") }
  }
}
