// Skipped records of `millrace.operations`: those that a person or a later version wrote. They are harmless, and
// readers report how many there are.

internal import KafkaClient
internal import MillraceWorker

/// The unreadable records of `millrace.operations`.
package struct PassedOver: Sendable, Hashable {
  /// The number of records.
  package private(set) var count = 0
  /// The offset of the last one. A reader that starts again does not count the same records twice.
  private var last: Int64 = -1
  /// The position and problem of the first one: `millrace.operations[0]@4: no JSON`.
  package private(set) var first: String?

  /// No records.
  package init() {}

  /// Counts a record.
  /// - Parameter problem: The reason why it is unreadable.
  mutating func add(_ record: ConsumerRecord, because problem: some Error) {
    guard record.offset > last else { return }
    last = record.offset
    count += 1
    first = first ?? "\(record.topic)[\(record.partition)]@\(record.offset): \(problem)"
  }

  /// Reads a record; nil for a tombstone or an unreadable record.
  mutating func read(_ record: ConsumerRecord) -> OperationsRecord? {
    do {
      return try OperationsRecord.read(record)
    } catch {
      add(record, because: error)
      return nil
    }
  }

  /// A message for people; nil if there are no such records.
  package var sentence: String? {
    guard let first else { return nil }
    return count == 1
      ? "Skipped an unreadable record: \(first)."
      : "Skipped \(count) unreadable records; the first: \(first)."
  }
}
