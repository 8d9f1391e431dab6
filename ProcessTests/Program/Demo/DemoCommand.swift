// The helper of `scripts/demo`: creates the simulator's certificate chain, posts forgeries, and checks the results in
// Kafka. It shares no code with the ingress except the models of notifications.
import ArgumentParser

struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract:
      "Posts forged notifications to an ingress, and checks Kafka for them and for a simulator's notifications.",
    discussion: "scripts/demo runs these steps in order; all use the same directory.",
    subcommands: [Prepare.self, WaitReady.self, Forge.self, Check.self, DeleteTopics.self])
}

/// The option of every step.
struct WorkspaceOptions: ParsableArguments {
  @Option(help: "The directory of chain, configuration and journal.") var directory: String

  var workspace: Workspace { Workspace(directory: directory) }
}
