// Faults that a test injects.

internal import KafkaClient

/// An operation that a test can make fail.
public enum LogOperation: Sendable, Hashable, CaseIterable {
  /// Writing a record, with or without a transaction.
  case send
  /// A reader's commit of offsets.
  case commitOffsets
  /// Taking over a transactional id.
  case initialize
  /// Adding offsets to a transaction.
  case sendOffsets
  /// Committing a transaction.
  case commitTransaction
  /// Aborting a transaction.
  case abortTransaction
  /// Reading records of a partition.
  case read
  /// Reading committed offsets.
  case committed
  /// A reader's question about the members of its group.
  case describeGroup
}

/// Whether a failing call takes effect.
public enum FaultReach: Sendable, Hashable {
  /// The call has no effect.
  case refused
  /// The call takes effect, but its response is lost.
  case unacknowledged
}

/// A fault that waits for its call.
struct LogFault: Sendable {
  var operation: LogOperation
  var process: ProcessID
  /// The topic that the call must concern; nil means any.
  var topic: String?
  var error: KafkaError
  var reach: FaultReach

  /// Whether the client gets no answer of the log, so that it cannot know whether the call took effect.
  var isWithoutAnswer: Bool { reach == .unacknowledged || error.code == .timedOut }
}
