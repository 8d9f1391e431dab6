// Writers for the duration of one operation.

public import KafkaClient

extension RecordLog {
  /// Writes records with a writer of its own and returns once all in-sync replicas have them.
  /// - Throws: `KafkaError` of the first record that was not written; others may have been written.
  public func append(_ records: [ProducerRecord]) async throws {
    guard !records.isEmpty else { return }
    _ = try await withWriter { try await $0.send(contentsOf: records) }
  }

  /// Runs `body` with a new writer. The writer ends once every accepted record is acknowledged or has failed.
  /// - Throws: The error of `body`, or the `KafkaError` that ended the writer.
  package func withWriter<Result: Sendable>(
    _ body: @escaping @Sendable (any LogWriter) async throws -> Result
  ) async throws -> Result {
    let writer = try makeWriter()
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask {
        try await writer.run()
        return nil
      }
      group.addTask {
        defer { writer.shutDown() }
        return try await body(writer)
      }
      var result: Result?
      while let end = try await group.next() { result = end ?? result }
      guard let result else {
        throw KafkaError(code: .closed, operation: "write", reason: "the client ended before the operation did")
      }
      return result
    }
  }
}
