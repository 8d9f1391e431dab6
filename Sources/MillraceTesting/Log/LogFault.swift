// Faults that a test asks for.

internal import Kafka

/// What can be made to fail.
public enum LogOperation: Sendable, Hashable, CaseIterable {
  /// Writing a record, inside a transaction or not.
  case send
  /// Committing offsets by a reader.
  case commitOffsets
  /// Taking over a transactional id.
  case initialize
  /// Adding offsets to a transaction.
  case sendOffsets
  /// Committing a transaction.
  case commitTransaction
  /// Aborting a transaction.
  case abortTransaction
  /// Taking records from a partition.
  case read
  /// Reading committed offsets.
  case committed
}

/// How far a failing call got.
public enum FaultReach: Sendable, Hashable {
  /// Nothing happened.
  case refused
  /// It happened, and nobody was told: the answer was lost.
  case unacknowledged
}

/// One fault that waits for its call.
struct LogFault: Sendable {
  var operation: LogOperation
  var process: ProcessID
  /// Only calls on this topic; nil: any.
  var topic: String?
  var error: KafkaError
  var reach: FaultReach
}
