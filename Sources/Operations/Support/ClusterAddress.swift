// Reports which cluster a command connects to, and why it does not answer.

package import KafkaClient

extension KafkaConfiguration {
  /// The message before the first request. An unreachable cluster is otherwise silent until the timeout.
  package var connecting: String { "connecting to \(TerminalText.safe(bootstrapServers)) …" }

  /// Reports the cluster to `note` and returns a configuration that also reports connection problems to it. Its first
  /// request ends after two seconds if every broker refuses the connection.
  package func reporting(_ note: @escaping @Sendable (String) -> Void) -> KafkaConfiguration {
    note(connecting)
    var reporting = self
    let servers = bootstrapServers.split(separator: ",").count
    reporting.reporter = ConnectionReporter(endingAtRefusalsBy: servers) { problems in
      let words = problems.map { TerminalText.safe($0.description) }.joined(separator: ", ")
      note(words.isEmpty ? "no answer yet" : "no answer yet: \(words)")
    }
    return reporting
  }

  /// Describes the cluster, as the first request of a command.
  ///
  /// - Throws: `KafkaError` whose operation names the cluster's address.
  package func describeCluster(timeout: Duration) async throws(KafkaError) -> ClusterDescription {
    do {
      return try await KafkaAdmin(self).describeCluster(timeout: timeout)
    } catch {
      var error = error
      error.operation += " at \(bootstrapServers)"
      throw error
    }
  }
}
