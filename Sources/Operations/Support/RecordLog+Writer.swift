// A writer for as long as some work takes.

internal import Kafka
internal import Millrace

extension RecordLog {
  /// Runs `body` beside a writer, which then ends with every record it took acknowledged or failed.
  /// - Throws: what `body` throws; `KafkaError` that ended the writer.
  func withWriter<Result: Sendable>(
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
