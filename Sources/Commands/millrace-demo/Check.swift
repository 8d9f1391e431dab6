// Last step: reads every topic from its beginning and holds it against the simulator's files and the journal.
import ArgumentParser
import Kafka
import Millrace

struct Check: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compares what is in Kafka with what was posted, and prints the summary.")

  @OptionGroup var options: WorkspaceOptions
  @Flag(help: "Every type and subtype must have been sent.") var everyKind = false

  func run() async throws {
    let configuration = try options.workspace.configuration()
    let catalog = try TopicCatalog.load(configuration.topics)
    let reader = try TopicReader(configuration)
    let quarantine = catalog.topic(named: QuarantineRecord.topic)?.topic
    let partitions = catalog.topics.flatMap { topic in
      (0..<topic.lanes).map { TopicPartition(topic: topic.topic, partition: Int32($0)) }
    }
    let records = try await reader.read(partitions)
    let verdict = Verdict(
      journal: try options.workspace.journal(), tally: try options.workspace.tally(), everyKind: everyKind,
      notifications: records.filter { $0.topic != quarantine },
      quarantine: records.filter { $0.topic == quarantine })
    print(verdict.table)
    guard verdict.isAsPromised else { throw ExitCode.failure }
  }
}
