// A writer that lives as long as some work takes.

public import Kafka

extension RecordLog {
  /// Writes records with a writer of its own and returns once all in-sync replicas have them.
  /// - Throws: `KafkaError` for the first that was not written; others may have been.
  public func append(_ records: [ProducerRecord]) async throws {
    guard !records.isEmpty else { return }
    _ = try await withWriter { try await $0.send(contentsOf: records) }
  }

  /// Runs `body` beside a writer, which then ends with every record it took acknowledged or failed.
  /// - Throws: what `body` throws; `KafkaError` that ended the writer.
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
        throw KafkaError(code: .closed, operation: "write", reason: "the client ended before its work")
      }
      return result
    }
  }
}
