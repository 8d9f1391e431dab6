// The errors of the in-memory log, with the codes that Kafka and librdkafka use.

internal import KafkaClient

extension KafkaError.Code {
  static let illegalGeneration = Self(rawValue: 22)
  static let unknownMember = Self(rawValue: 25)
  static let state = Self(rawValue: -172)
}

extension KafkaError {
  static func closed(_ operation: String) -> KafkaError {
    KafkaError(code: .closed, operation: operation, reason: "the client is shut down")
  }

  static func timedOut(_ operation: String) -> KafkaError {
    KafkaError(code: .timedOut, operation: operation, reason: "no response within the time limit", isRetriable: true)
  }

  /// Another client has replaced this static member.
  static func fencedInstance(_ operation: String) -> KafkaError {
    KafkaError(
      code: .fencedInstance, operation: operation, reason: "another member has the same instance id", isFatal: true)
  }

  static func unknown(_ partition: String, _ operation: String) -> KafkaError {
    KafkaError(code: .unknownTopicOrPartition, operation: operation, reason: "\(partition) does not exist")
  }

  /// A newer producer has the transactional id, or the transaction timed out.
  static func fenced(_ operation: String) -> KafkaError {
    KafkaError(
      code: .fenced, operation: operation, reason: "the transactional id has a newer epoch", isFatal: true)
  }

  /// The transaction to abort is already committed.
  static func transactionHasEnded(_ operation: String) -> KafkaError {
    KafkaError(
      code: .invalidTransactionState, operation: operation, reason: "the transaction has already ended", isFatal: true)
  }

  /// The call is not allowed in the producer's current state.
  static func misuse(_ operation: String, _ reason: String) -> KafkaError {
    KafkaError(code: .state, operation: operation, reason: reason, isFatal: true)
  }

  /// The same error, marked so that the transaction can only be aborted.
  var dooming: KafkaError {
    guard !isFatal else { return self }
    var error = self
    error.requiresAbort = true
    error.isRetriable = false
    return error
  }
}
