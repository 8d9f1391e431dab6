// First step: creates a certificate chain for the simulator, a shared secret, free ports, and the configuration.
import AppStore
import AppStoreSigning
import ArgumentParser
import Foundation
import ScenarioRig

struct Prepare: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes a certificate chain and a configuration that trusts it.")

  @OptionGroup var options: WorkspaceOptions
  @Option(help: "Comma-separated host:port of the brokers.") var bootstrapServers: String
  @Option(help: "The directory of the topic files.") var topics: String

  func run() throws {
    let workspace = options.workspace
    try workspace.save(SigningChain.generate(at: Workspace.now))
    // Same length and randomness as App Store Connect's secrets.
    var generator = SystemRandomNumberGenerator()
    let secret = (0..<16).map { _ in
      let byte = UInt8.random(in: .min ... .max, using: &generator)
      return (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    try writePrivately(secret.joined() + "\n", to: workspace.secretPath)
    let ports = try FreePorts.find(2)
    try writePrivately(yaml(workspace, ingress: ports[0], admin: ports[1]), to: workspace.configurationPath)
  }

  private func yaml(_ workspace: Workspace, ingress: Int, admin: Int) -> String {
    """
    kafka:
      bootstrapServers: \(bootstrapServers)
      durability: relaxed # the embedded cluster has one broker and no topic settings
    topics:
      directory: \(topics)
    trust:
      roots: [\(workspace.rootPath)] # the simulator's, instead of Apple's
      innerTokens: verified # some forgeries are tokens inside a genuine notification
    apps:
      - bundleId: \(Workspace.app.bundleId)
        appAppleId: \(Workspace.app.appAppleId)
        environments: [\(Workspace.app.environment.rawValue)]
      - bundleId: \(Workspace.legacyApp.bundleId) # still receives version 1
        appAppleId: \(Workspace.legacyApp.appAppleId)
        environments: [\(Workspace.legacyApp.environment.rawValue)]
        sharedSecretFiles: [\(workspace.secretPath)]
    ingress: { host: 127.0.0.1, port: \(ingress) }
    admin: { host: 127.0.0.1, port: \(admin) }

    """
  }
}
