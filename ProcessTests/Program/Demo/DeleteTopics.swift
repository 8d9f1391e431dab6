// Deletes the topics that tests created on a shared cluster.

import ArgumentParser
import KafkaClient

struct DeleteTopics: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Deletes the topics whose names begin with a prefix.",
    discussion: "scripts/test calls it for its own prefix when it ends.")

  @Option(help: "Comma-separated host:port of the brokers.") var bootstrapServers: String
  @Option(help: "The prefix of the topics' names, at least eight characters.") var prefix: String

  func validate() throws {
    guard prefix.count >= 8 else {
      throw ValidationError("--prefix \(prefix) is too short: it could match other topics")
    }
  }

  func run() async throws {
    let admin = KafkaAdmin(KafkaConfiguration(bootstrapServers: bootstrapServers, clientID: "millrace-scenarios"))
    print("\(try await admin.deleteTopics(withPrefix: prefix, timeout: .seconds(60))) topics deleted")
  }
}
