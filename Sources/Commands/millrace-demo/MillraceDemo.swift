// The hands and eyes of `scripts/demo`: makes a certificate chain, posts what it signs and what it forges, and checks in
// Kafka what came of it. It shares no code with the ingress but the values of notifications.
import ArgumentParser

@main
struct MillraceDemo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "millrace-demo",
    abstract: "Posts signed and forged notifications to a millrace-ingress and checks what arrives in Kafka.",
    discussion: "scripts/demo runs these one after the other; each reads and writes the same directory.",
    subcommands: [Prepare.self, WaitReady.self, Post.self, Forge.self, Check.self])
}

/// The option that every step has.
struct WorkspaceOptions: ParsableArguments {
  @Option(help: "Where chain, configuration and journal are.") var directory: String

  var workspace: Workspace { Workspace(directory: directory) }
}
