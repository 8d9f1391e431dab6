// The errors of the log in memory, with the codes that Kafka and librdkafka use for the same.

internal import Kafka

extension KafkaError.Code {
  static let noOffsetReset = Self(rawValue: -140)
  static let illegalGeneration = Self(rawValue: 22)
  static let unknownMember = Self(rawValue: 25)
  static let fencedInstance = Self(rawValue: 82)
  static let state = Self(rawValue: -172)
}

extension KafkaError {
  static func closed(_ operation: String) -> KafkaError {
    KafkaError(code: .closed, operation: operation, reason: "the client is shut down")
  }

  static func timedOut(_ operation: String) -> KafkaError {
    KafkaError(code: .timedOut, operation: operation, reason: "no answer inside the time limit", isRetriable: true)
  }

  /// Another client took the place of this static member.
  static func fencedInstance(_ operation: String) -> KafkaError {
    KafkaError(
      code: .fencedInstance, operation: operation, reason: "another member has the same instance id", isFatal: true)
  }

  static func unknown(_ partition: String, _ operation: String) -> KafkaError {
    KafkaError(code: .unknownTopicOrPartition, operation: operation, reason: "\(partition) does not exist")
  }

  /// A newer producer has the transactional id, or the transaction's time was over.
  static func fenced(_ operation: String) -> KafkaError {
    KafkaError(
      code: .fenced, operation: operation, reason: "the transactional id has a newer epoch", isFatal: true)
  }

  /// The call does not fit what the producer is doing.
  static func misuse(_ operation: String, _ reason: String) -> KafkaError {
    KafkaError(code: .state, operation: operation, reason: reason, isFatal: true)
  }

  /// The same error of a call whose transaction can only be aborted now.
  var dooming: KafkaError {
    guard !isFatal else { return self }
    var error = self
    error.requiresAbort = true
    error.isRetriable = false
    return error
  }
}
