// `millrace embedded-cluster`

import ArgumentParser
import MillraceRecords
import Operations
import MillraceCore

struct EmbeddedClusterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "embedded-cluster",
    abstract: "Run a small Kafka with all topics in this process, for development.",
    discussion: """
      Prints its address and runs until Ctrl-C or SIGTERM. It keeps about 5 MiB per partition, loses everything when \
      it ends, and has no transactions: not for production.

      Examples:
        millrace embedded-cluster
        millrace embedded-cluster --brokers 3 --bootstrap-file bootstrap.txt
        MILLRACE_KAFKA_BOOTSTRAP_SERVERS=$(cat bootstrap.txt) millrace listen
      """)

  @Option(help: ArgumentHelp("The number of brokers, 1 to \(DevelopmentCluster.brokerLimit).", valueName: "count"))
  var brokers = 1

  @Option(help: ArgumentHelp("Also write the address to this file when the cluster is ready.", valueName: "file"))
  var bootstrapFile: String?

  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard (1...DevelopmentCluster.brokerLimit).contains(brokers) else {
      throw ValidationError("--brokers must be from 1 to \(DevelopmentCluster.brokerLimit), not \(brokers).")
    }
  }

  func run() async throws {
    let (brokers, bootstrapFile, shared) = (self.brokers, self.bootstrapFile, self.shared)
    try await conclude(finishesOnSignal: true) { console in
      let catalog = try TopicCatalog.load(try shared.load().configuration)
      try await DevelopmentCluster.run(catalog: catalog, brokers: brokers) { address in
        if let bootstrapFile { try AtomicFile.write(address + "\n", to: bootstrapFile) }
        try console.out.line(address)
        console.err.note(DevelopmentCluster.sentence(catalog: catalog, brokers: brokers))
      }
      return .success
    }
  }
}
