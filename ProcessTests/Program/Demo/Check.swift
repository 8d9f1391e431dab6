// Last step: compares every topic with the simulator's files and the journal.
import ArgumentParser
import KafkaClient
import MillraceRecords
import ScenarioRig
import MillraceCore

struct Check: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compares the records in Kafka with the posted bodies and prints the summary.")

  @OptionGroup var options: WorkspaceOptions
  @Flag(help: "Every type and subtype must have been sent.") var everyKind = false

  func run() async throws {
    let configuration = try options.workspace.configuration()
    let catalog = try TopicCatalog.load(configuration.topics)
    let log = try await KafkaLog.connect(
      try configuration.kafka.client(clientID: "millrace-scenarios").eager, timeout: .seconds(30))
    let quarantine = catalog.topic(named: QuarantineRecord.topic)?.topic
    // The audit trail says who created the topics, and the ingress reports about itself.
    let others = [AuditRecord.topic, ProcessReport.ingressTopic]
    let records = try await log.everything(in: catalog.topics.filter { !others.contains($0.name) }.map(\.topic))
    let verdict = DemoResult(
      journal: try options.workspace.journal(), tally: try options.workspace.tally(), everyKind: everyKind,
      notifications: records.filter { $0.topic != quarantine },
      quarantine: records.filter { $0.topic == quarantine })
    print(verdict.table)
    guard verdict.isAsPromised else { throw ExitCode.failure }
  }
}
