internal import CRDKafka

/// What went wrong between this process and Kafka: which operation, on what, and what to do now.
///
/// `code` is Kafka's or librdkafka's own number and name, so that it can be looked up in their documentation.
public struct KafkaError: Error, Sendable, Hashable, CustomStringConvertible {
  /// An error code of Kafka (positive) or of librdkafka (negative).
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number as librdkafka reports it (`rd_kafka_resp_err_t`).
    public let rawValue: Int32

    /// Wraps a number of `rd_kafka_resp_err_t`.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The symbolic name, for instance `_MSG_TIMED_OUT`.
    public var description: String {
      rd_kafka_err2name(rd_kafka_resp_err_t(rawValue)).map { String(cString: $0) } ?? "ERR_\(rawValue)"
    }

    static func of(_ error: rd_kafka_resp_err_t) -> Code { Code(rawValue: error.rawValue) }

    /// The message was not acknowledged inside `message.timeout.ms`.
    public static let messageTimedOut = of(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
    /// An operation did not finish inside its time limit.
    public static let timedOut = of(RD_KAFKA_RESP_ERR__TIMED_OUT)
    /// The local producer queue is full and did not empty inside the time limit.
    public static let queueFull = of(RD_KAFKA_RESP_ERR__QUEUE_FULL)
    /// The client was closed before or while the operation ran.
    public static let closed = of(RD_KAFKA_RESP_ERR__DESTROY)
    /// The message was withdrawn because the client was cancelled.
    public static let purged = of(RD_KAFKA_RESP_ERR__PURGE_QUEUE)
    /// A setting is unknown or its value is not allowed.
    public static let invalidConfiguration = of(RD_KAFKA_RESP_ERR__INVALID_ARG)
    /// The topic or partition does not exist.
    public static let unknownTopicOrPartition = of(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
    /// The topic is not known, also not after the time that its creation may take to be known everywhere.
    public static let unknownTopic = of(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
    /// This client's user has no right to the topic.
    public static let topicAuthorizationFailed = of(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    /// The broker found something wrong with the record itself.
    public static let invalidRecord = of(RD_KAFKA_RESP_ERR_INVALID_RECORD)
    /// The record is larger than the client or the topic admits.
    public static let messageTooLarge = of(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
    /// The cluster cannot do what was asked (the embedded cluster, an old broker).
    public static let unsupported = of(RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE)
    /// This producer was fenced by a newer one.
    public static let fenced = of(RD_KAFKA_RESP_ERR__FENCED)
    /// The group is being rebalanced and takes no offsets until this member has joined again.
    public static let rebalanceInProgress = of(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS)
    /// An acknowledgement may have been lost: the record can be in Kafka or not.
    public static let inDoubt = of(RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
  }

  /// Kafka's code.
  public var code: Code
  /// What was being done, and on what: `send to appstore.notifications.tests`.
  public var operation: String
  /// librdkafka's sentence.
  public var reason: String
  /// True where the same call may succeed later without a change.
  public var isRetriable: Bool
  /// True where the open transaction can only be aborted (see `rd_kafka_error_txn_requires_abort`).
  public var requiresAbort: Bool
  /// True where this client can do nothing more and has to be replaced (see `rd_kafka_fatal_error`).
  public var isFatal: Bool

  /// Makes an error of our own.
  public init(
    code: Code, operation: String, reason: String, isRetriable: Bool = false, requiresAbort: Bool = false,
    isFatal: Bool = false
  ) {
    self.code = code
    self.operation = operation
    self.reason = reason
    self.isRetriable = isRetriable
    self.requiresAbort = requiresAbort
    self.isFatal = isFatal
  }

  /// One line for a log: operation, sentence, name.
  public var description: String { "Kafka: \(operation): \(reason) (\(code))" }
}

extension KafkaError {
  /// From a bare code.
  init(_ error: rd_kafka_resp_err_t, operation: String) {
    self.init(
      code: .of(error), operation: operation,
      reason: rd_kafka_err2str(error).map { String(cString: $0) } ?? "unknown error",
      isRetriable: Self.retriable.contains(error.rawValue))
  }

  /// From librdkafka's error object, which this consumes.
  init(consuming error: OpaquePointer, operation: String) {
    let requiresAbort = rd_kafka_error_txn_requires_abort(error) != 0
    let isFatal = rd_kafka_error_is_fatal(error) != 0
    let mayRetry =
      rd_kafka_error_is_retriable(error) != 0 || Self.retriable.contains(rd_kafka_error_code(error).rawValue)
    self.init(
      code: .of(rd_kafka_error_code(error)), operation: operation,
      reason: rd_kafka_error_string(error).map { String(cString: $0) } ?? "unknown error",
      isRetriable: mayRetry && !requiresAbort && !isFatal, requiresAbort: requiresAbort && !isFatal, isFatal: isFatal)
    rd_kafka_error_destroy(error)
  }

  /// Codes after which the same call may work: the broker is away, moving, or short of replicas.
  private static let retriable: Set<Int32> = Set(
    [
      RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT,
      RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR__QUEUE_FULL, RD_KAFKA_RESP_ERR__RESOLVE,
      RD_KAFKA_RESP_ERR__WAIT_COORD, RD_KAFKA_RESP_ERR__RETRY, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
      RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
      RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION,
      RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
      RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,
      RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH, RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED,
    ].map(\.rawValue))
}
