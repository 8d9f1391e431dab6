// Which cluster a command talks to, said while it waits and again when nobody answers.

public import Kafka

extension KafkaConfiguration {
  /// What is said before the first question: a cluster that cannot be reached is silent until the time limit.
  public var connecting: String { "connecting to \(TerminalText.safe(bootstrapServers)) …" }

  /// The cluster as it answers a command's first question.
  ///
  /// - Throws: `KafkaError` whose operation names the address that was asked.
  func describeCluster(timeout: Duration) async throws(KafkaError) -> ClusterDescription {
    do {
      return try await KafkaAdmin(self).describeCluster(timeout: timeout)
    } catch {
      var error = error
      error.operation += " at \(bootstrapServers)"
      throw error
    }
  }
}
