// The command line: which commands there are. What they do is in the module Operations.

import ArgumentParser
import Millrace

struct MillraceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "millrace",
    abstract: "Look at App Store notifications, and operate the topics they are in.",
    discussion: """
      Commands that need a cluster or topic files read the configuration that --config or MILLRACE_CONFIG names; every \
      key is an environment variable too, such as MILLRACE_KAFKA_BOOTSTRAP_SERVERS.

      Exit status: 0 done, 1 not done (or not genuine), 64 wrong command line, 78 wrong configuration.
      """,
    version: MillraceVersion.current,
    subcommands: [
      VerifyCommand.self, ListenCommand.self, TopicsCommand.self, QuarantineCommand.self, APICommand.self,
      CampaignsCommand.self, DeadLettersCommand.self, ReplayCommand.self, RefundsCommand.self, CompareCommand.self,
      BackfillCommand.self, AuditCommand.self, DoctorCommand.self, NewCommand.self, ConfigCommand.self,
      HealthCommand.self,
      EmbeddedClusterCommand.self,
    ])
}
