// The errors that brokers answer, by Kafka's names.

internal import KafkaClient

struct BrokerError: Error, Hashable, CustomStringConvertible {
  var code: KafkaError.Code

  private init(_ number: Int32) { code = KafkaError.Code(rawValue: number) }

  static let offsetOutOfRange = BrokerError(1)
  static let unknownTopicOrPartition = BrokerError(3)
  static let messageTooLarge = BrokerError(10)
  static let illegalGeneration = BrokerError(22)
  static let unknownMember = BrokerError(25)
  static let rebalanceInProgress = BrokerError(27)
  static let outOfOrderSequence = BrokerError(45)
  static let invalidProducerEpoch = BrokerError(47)
  static let invalidTransactionState = BrokerError(48)
  static let invalidProducerIDMapping = BrokerError(49)
  static let concurrentTransactions = BrokerError(51)
  static let fencedInstance = BrokerError(82)
  static let unstableOffsetCommit = BrokerError(88)

  var description: String { code.description }

  func error(
    _ operation: String, isRetriable: Bool = false, requiresAbort: Bool = false, isFatal: Bool = false
  ) -> KafkaError {
    KafkaError(
      code: code, operation: operation, reason: "the broker answered \(code)", isRetriable: isRetriable,
      requiresAbort: requiresAbort, isFatal: isFatal)
  }
}
