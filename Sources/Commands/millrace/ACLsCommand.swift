// `millrace topics acls`

import ArgumentParser
import MillraceCore
import MillraceRecords
import Operations

extension TopicsCommand {
  struct ACLs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "acls",
      abstract: "Print the least rights of each process in Kafka.",
      discussion: """
        Prints the rights that docs/threat-model.md lists, with the names of this configuration. Asks Kafka nothing, \
        and changes nothing. A process is a principal: User:millrace-ingress, User:millrace-refunds. A worker of yours \
        has the name of its entry under `workers`. The commands of operators are processes too, such as \
        millrace-cli-replay; they are printed only if --process names them.

        Rights that a process needs only with an option or a setting follow a comment that names it.

        Examples:
          millrace topics acls --format kafka-acls > acls.sh
          millrace topics acls --format kafka-acls --process millrace-ingress --process millrace-refunds
          millrace topics acls --format strimzi --cluster events --principal-prefix shop- | kubectl apply -f -
          millrace topics acls --format terraform --principal-prefix CN= > acls.tf
        """)

    @Option(
      help: ArgumentHelp(
        "Commands with kafka-acls.sh, KafkaUsers of Strimzi, or Terraform resources of the provider Mongey/kafka.",
        valueName: "format"))
    var format: ACLText.Format

    @Option(
      help: ArgumentHelp(
        "The start of each principal's name, before the name of the process; by default nothing.", valueName: "text"))
    var principalPrefix = ""

    @Option(
      help: ArgumentHelp(
        "A process to print; may be repeated. By default all processes that the configuration can deploy.",
        valueName: "name"))
    var process: [String] = []

    @Option(help: ArgumentHelp("The name of the Kafka resource, for strimzi.", valueName: "name"))
    var cluster = "kafka"

    @Flag(help: "Also grant IdempotentWrite on the cluster, which brokers before 3.0 require of each producer.")
    var idempotentWrite = false

    @OptionGroup var shared: SharedOptions

    func run() async throws {
      let command = self
      try await conclude { console in
        let text = try ACLText(
          command.format, principalPrefix: command.principalPrefix, cluster: command.cluster)
        let configuration = try command.shared.load().configuration
        let plan = try AccessPlan(
          workers: try DeployedWorker.all(in: configuration), catalog: try TopicCatalog.load(configuration),
          prefix: configuration.topics.prefix, grantsIdempotentWrite: command.idempotentWrite)
        try console.out.text(text.text(try plan.processes(command.process)))
        return .success
      }
    }
  }
}

extension ACLText.Format: ExpressibleByArgument {}
