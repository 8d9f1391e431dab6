// The list of commands. The module Operations implements them.

import ArgumentParser
import MillraceCore

struct MillraceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "millrace",
    abstract: "Inspect App Store notifications and operate their topics.",
    discussion: """
      Commands that need a cluster or topic files read the configuration from --config or MILLRACE_CONFIG. Every key \
      can also be set by an environment variable, such as MILLRACE_KAFKA_BOOTSTRAP_SERVERS.

      Exit status: 0 success, 1 failure (or not genuine), 64 invalid command line, 78 invalid configuration.
      """,
    version: MillraceVersion.text,
    subcommands: [
      VerifyCommand.self, ListenCommand.self, TopicsCommand.self, QuarantineCommand.self, APICommand.self,
      CampaignsCommand.self, DeadLettersCommand.self, ReplayCommand.self, SubscriptionsCommand.self,
      TimelineCommand.self,
      RefundsCommand.self, PostgresCommand.self, CompareCommand.self, BackfillCommand.self, AuditCommand.self,
      PrivacyCommand.self, HandlerCommand.self, WebhooksCommand.self, DoctorCommand.self, StatusCommand.self,
      WorkersCommand.self, NewCommand.self, ConfigCommand.self, HealthCommand.self,
      EmbeddedClusterCommand.self,
    ])
}
