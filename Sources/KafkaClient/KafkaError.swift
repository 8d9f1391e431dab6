internal import CRDKafka

/// An error of a Kafka client: the operation, its target and the reason.
///
/// `code` is the number and name that the documentation of Kafka or librdkafka uses.
public struct KafkaError: Error, Sendable, Hashable, CustomStringConvertible {
  /// An error code of Kafka (positive) or librdkafka (negative).
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number as librdkafka reports it (`rd_kafka_resp_err_t`).
    public let rawValue: Int32

    /// Creates a code from a number of `rd_kafka_resp_err_t`.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The symbolic name, such as `_MSG_TIMED_OUT`.
    public var description: String {
      rd_kafka_err2name(rd_kafka_resp_err_t(rawValue)).map { String(cString: $0) } ?? "ERR_\(rawValue)"
    }

    static func of(_ error: rd_kafka_resp_err_t) -> Code { Code(rawValue: error.rawValue) }

    /// The message was not acknowledged within `message.timeout.ms`.
    public static let messageTimedOut = of(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
    /// The operation did not finish within its time limit.
    public static let timedOut = of(RD_KAFKA_RESP_ERR__TIMED_OUT)
    /// The local producer queue was full for the whole time limit.
    public static let queueFull = of(RD_KAFKA_RESP_ERR__QUEUE_FULL)
    /// The client was closed before or during the operation.
    public static let closed = of(RD_KAFKA_RESP_ERR__DESTROY)
    /// The message was withdrawn because the client was cancelled.
    public static let purged = of(RD_KAFKA_RESP_ERR__PURGE_QUEUE)
    /// A property is unknown or its value is not allowed.
    public static let invalidConfiguration = of(RD_KAFKA_RESP_ERR__INVALID_ARG)
    /// The topic or partition does not exist.
    public static let unknownTopicOrPartition = of(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
    /// The topic is unknown, even after the time that the creation of a topic takes to propagate.
    public static let unknownTopic = of(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
    /// A topic with this name already exists.
    public static let topicAlreadyExists = of(RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
    /// The partition count is not allowed, for example because the topic already has as many.
    public static let invalidPartitions = of(RD_KAFKA_RESP_ERR_INVALID_PARTITIONS)
    /// The offset to read from does not exist, and `auto.offset.reset` is `error`.
    public static let noOffsetReset = of(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
    /// The cluster does not know a setting, or does not allow its value.
    public static let invalidConfig = of(RD_KAFKA_RESP_ERR_INVALID_CONFIG)
    /// A policy of the cluster does not allow the topic or the setting.
    public static let policyViolation = of(RD_KAFKA_RESP_ERR_POLICY_VIOLATION)
    /// This client's user is not authorized to use the topic.
    public static let topicAuthorizationFailed = of(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    /// The broker found the record invalid.
    public static let invalidRecord = of(RD_KAFKA_RESP_ERR_INVALID_RECORD)
    /// The broker does not accept the record's timestamp: it is too far from the broker's clock
    /// (`message.timestamp.before.max.ms`, and since Kafka 4.0 an hour for `message.timestamp.after.max.ms`).
    public static let invalidTimestamp = of(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP)
    /// The record is larger than the client or the topic allows.
    public static let messageTooLarge = of(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
    /// The cluster does not support the operation (the embedded cluster, an old broker).
    public static let unsupported = of(RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE)
    /// A newer producer fenced this one.
    public static let fenced = of(RD_KAFKA_RESP_ERR__FENCED)
    /// The producer's epoch is old: a newer producer fenced it, or its transaction timed out.
    public static let invalidProducerEpoch = of(RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH)
    /// The state of the transaction does not allow the request. For an abort: the transaction has already been
    /// committed or aborted.
    public static let invalidTransactionState = of(RD_KAFKA_RESP_ERR_INVALID_TXN_STATE)
    /// Another client joined the group under this static member's name.
    public static let fencedInstance = of(RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
    /// This client's user is not authorized to use the transactional id.
    public static let transactionalIDAuthorizationFailed = of(RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    /// This client's user is not authorized to use the group.
    public static let groupAuthorizationFailed = of(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
    /// This client's user is not authorized for the cluster operation.
    public static let clusterAuthorizationFailed = of(RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED)
    /// The group has members, and this client is not one of them.
    public static let unknownMember = of(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID)
    /// The group is rebalancing and accepts no offsets until this member has joined again.
    public static let rebalanceInProgress = of(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS)
    /// The acknowledgement may have been lost: the record may or may not be in Kafka.
    public static let inDoubt = of(RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
  }

  /// Kafka's code.
  public var code: Code
  /// The operation and its target: `send to appstore.notifications.tests`.
  public var operation: String
  /// The reason, usually librdkafka's message.
  public var reason: String
  /// Whether the same call may succeed later without a change.
  public var isRetriable: Bool
  /// Whether the open transaction must be aborted (see `rd_kafka_error_txn_requires_abort`).
  public var requiresAbort: Bool
  /// Whether this client is unusable and has to be replaced (see `rd_kafka_fatal_error`).
  public var isFatal: Bool

  /// Whether the record of a failed send may be in Kafka nevertheless; nil for other operations.
  public var persistence: Persistence?

  /// The status of a record that was not acknowledged (`rd_kafka_message_status`).
  public enum Persistence: Sendable, Hashable {
    /// The record was not written. Sending it again creates no second copy.
    case notPersisted
    /// The record was sent or may still be sent. Sending it again may create a second copy.
    case possiblyPersisted
  }

  /// The last problem of each broker, if the client could not reach its brokers.
  public var problems: [BrokerProblem] = []

  /// Creates an error.
  public init(
    code: Code, operation: String, reason: String, isRetriable: Bool = false, requiresAbort: Bool = false,
    isFatal: Bool = false, persistence: Persistence? = nil
  ) {
    self.code = code
    self.operation = operation
    self.reason = reason
    self.isRetriable = isRetriable
    self.requiresAbort = requiresAbort
    self.isFatal = isFatal
    self.persistence = persistence
  }

  /// One line for a log: operation, reason and code.
  public var description: String { "Kafka: \(operation): \(reason) (\(code))" }
}

extension KafkaError {
  /// Creates an error from a code.
  init(_ error: rd_kafka_resp_err_t, operation: String) {
    self.init(
      code: .of(error), operation: operation,
      reason: rd_kafka_err2str(error).map { String(cString: $0) } ?? "unknown error",
      isRetriable: Self.retriability(of: .of(error)) == .yes)
  }

  /// Creates an error from librdkafka's error object and destroys the object.
  init(consuming error: OpaquePointer, operation: String) {
    let requiresAbort = rd_kafka_error_txn_requires_abort(error) != 0
    let isFatal = rd_kafka_error_is_fatal(error) != 0
    let mayRetry =
      rd_kafka_error_is_retriable(error) != 0 || Self.retriability(of: .of(rd_kafka_error_code(error))) == .yes
    self.init(
      code: .of(rd_kafka_error_code(error)), operation: operation,
      reason: rd_kafka_error_string(error).map { String(cString: $0) } ?? "unknown error",
      isRetriable: mayRetry && !requiresAbort && !isFatal, requiresAbort: requiresAbort && !isFatal, isFatal: isFatal)
    rd_kafka_error_destroy(error)
  }
}
