// Writing a few records by a client that lives as long as that takes.

public import Kafka

extension RecordLog {
  /// Writes records with a writer of its own and returns once all in-sync replicas have them.
  /// - Throws: `KafkaError` for the first that was not written; others may have been.
  public func append(_ records: [ProducerRecord]) async throws {
    guard !records.isEmpty else { return }
    try await whileWriting { _ = try await $0.send(contentsOf: records) }
  }

  /// Serves a writer while `body` uses it.
  package func whileWriting(_ body: (any LogWriter) async throws -> Void) async throws {
    let writer = try makeWriter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await writer.run() }
      do {
        try await body(writer)
      } catch {
        writer.shutDown()
        throw error
      }
      writer.shutDown()
      try await group.waitForAll()
    }
  }
}
