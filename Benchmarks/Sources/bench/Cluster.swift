// An embedded Kafka cluster in a process of its own, so that its work is not counted as anybody else's.
import ArgumentParser
import Foundation
import Kafka
import Millrace

struct Cluster: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "An embedded cluster with the project's topics; runs until it is stopped.", shouldDisplay: false)

  @Option(help: "The directory of the topic files.") var topics: String
  @Option(help: "A topic that no file declares, for `produce`.") var extra: String?
  @Option(help: "Where to write the address.") var bootstrapFile: String

  func run() async throws {
    let cluster = try EmbeddedCluster()
    for topic in try TopicCatalog.load(directory: topics, prefix: "", lanes: 12).topics {
      try cluster.createTopic(topic.topic, partitions: topic.lanes)
    }
    if let extra { try cluster.createTopic(extra, partitions: 12) }
    try Data(cluster.bootstrapServers.utf8).write(to: URL(fileURLWithPath: bootstrapFile), options: .atomic)
    try await Signals.termination()
    withExtendedLifetime(cluster) {}
  }
}
