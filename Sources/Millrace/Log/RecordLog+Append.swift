// Writing a few records once, by a client that lives as long as that takes.

public import Kafka

extension RecordLog {
  /// Writes records and returns once all in-sync replicas have them.
  /// - Throws: `KafkaError` for the first that was not written; others may have been.
  public func append(_ records: [ProducerRecord]) async throws {
    let writer = try makeWriter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await writer.run() }
      do {
        _ = try await writer.send(contentsOf: records)
      } catch {
        writer.shutDown()
        throw error
      }
      writer.shutDown()
      try await group.waitForAll()
    }
  }
}
