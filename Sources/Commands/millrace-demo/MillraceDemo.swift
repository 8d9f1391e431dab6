// The hands and eyes of `scripts/demo`: makes the certificate chain that the simulator signs with, posts what it forges
// itself, and checks in Kafka what came of both. It shares no code with the ingress but the values of notifications.
import ArgumentParser

@main
struct MillraceDemo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "millrace-demo",
    abstract:
      "Posts forged notifications to a millrace-ingress and checks what arrives in Kafka of them and of a simulator's.",
    discussion: "scripts/demo runs these one after the other; each reads and writes the same directory.",
    subcommands: [Prepare.self, WaitReady.self, Forge.self, Check.self])
}

/// The option that every step has.
struct WorkspaceOptions: ParsableArguments {
  @Option(help: "Where chain, configuration and journal are.") var directory: String

  var workspace: Workspace { Workspace(directory: directory) }
}
