// Lists every error code of librdkafka with the answer to one question: can the same call succeed later, without a change
// by the caller or an operator?

internal import CRDKafka

extension KafkaError {
  /// Whether the same call can succeed later, without a change.
  enum Retriability: Sendable, Hashable {
    /// Yes. A broker or coordinator is unavailable, starting, moving or short of replicas, or a local queue is full.
    case yes
    /// Only if the topic exists. A broker that has just started, or a client with old metadata, does not know it yet; a
    /// topic that was deleted never comes back. ``KafkaError/isUnknownTopic`` is true.
    case ifTopicExists
    /// No, for this reason.
    case no(Reason)
  }

  /// The reason why the same call fails again.
  enum Reason: Sendable, Hashable {
    /// The request, its data or a setting of the client is wrong.
    case request
    /// A user, password, certificate, token or right is missing or wrong.
    case permission
    /// The broker or this version of librdkafka cannot do it, or its configuration forbids it.
    case unsupported
    /// It names something that does not exist or already exists, or the state that it asks for is already reached.
    case subject
    /// The caller has to do something else first: wait for an earlier call, join the group again, abort the transaction,
    /// look up an offset or replace the client.
    case state
    /// The record may be in Kafka already. Whether to send it again is for the caller to decide.
    case unanswered
    /// The client was closed, or its user interrupted the call.
    case closed
    /// A defect of this machine: memory, files, threads.
    case machine
    /// Stored or received data is damaged. A client that reads on meets it again.
    case data
    /// The code is an event, a mark, or one that brokers and librdkafka use among themselves.
    case notAnError
    /// The code says nothing about its cause, or librdkafka added it after this table was written.
    case unknown
  }

  /// Whether this error means that the broker or the client does not know the topic or the partition. If the topic
  /// exists, the same call may succeed later.
  package var isUnknownTopic: Bool { Self.retriability(of: code) == .ifTopicExists }

  static func retriability(of code: Code) -> Retriability { table[code] ?? .no(.unknown) }

  /// All codes. A code that is missing here counts as ``Reason/unknown``.
  static let table = Dictionary(entries) { first, _ in first }

  /// The codes as they are listed.
  static var listed: [Code] { entries.map(\.0) }

  private static let entries: [(Code, Retriability)] =
    groups.flatMap { retriability, codes in codes.map { (.of($0), retriability) } }
    + later.flatMap { retriability, numbers in numbers.map { (Code(rawValue: $0), retriability) } }

  private static let groups: [(Retriability, [rd_kafka_resp_err_t])] = [
    (
      .yes,
      [
        RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE,
        RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR__UNKNOWN_BROKER,
        RD_KAFKA_RESP_ERR__QUEUE_FULL, RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR__WAIT_COORD,
        RD_KAFKA_RESP_ERR__WAIT_CACHE, RD_KAFKA_RESP_ERR__RETRY, RD_KAFKA_RESP_ERR__ISR_INSUFF,
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
        RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
        RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION,
        RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
        RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR_NOT_CONTROLLER, RD_KAFKA_RESP_ERR_STALE_CTRL_EPOCH,
        RD_KAFKA_RESP_ERR_STALE_BROKER_EPOCH, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
        RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT,
        RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
        RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH, RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH,
        RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_LISTENER_NOT_FOUND,
        RD_KAFKA_RESP_ERR_PREFERRED_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_ELIGIBLE_LEADERS_NOT_AVAILABLE,
        RD_KAFKA_RESP_ERR_REASSIGNMENT_IN_PROGRESS, RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED,
        RD_KAFKA_RESP_ERR_FETCH_SESSION_ID_NOT_FOUND, RD_KAFKA_RESP_ERR_INVALID_FETCH_SESSION_EPOCH,
      ]
    ),
    (
      .ifTopicExists,
      [
        RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
        RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
      ]
    ),
    (
      .no(.request),
      [
        RD_KAFKA_RESP_ERR__INVALID_ARG, RD_KAFKA_RESP_ERR__INVALID_TYPE, RD_KAFKA_RESP_ERR__NOT_CONFIGURED,
        RD_KAFKA_RESP_ERR__KEY_SERIALIZATION, RD_KAFKA_RESP_ERR__VALUE_SERIALIZATION,
        RD_KAFKA_RESP_ERR__READ_ONLY, RD_KAFKA_RESP_ERR__CONFLICT, RD_KAFKA_RESP_ERR__EXISTING_SUBSCRIPTION,
        RD_KAFKA_RESP_ERR__PARTIAL, RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
        RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE, RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
        RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS,
        RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL, RD_KAFKA_RESP_ERR_INVALID_GROUP_ID,
        RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT, RD_KAFKA_RESP_ERR_INVALID_COMMIT_OFFSET_SIZE,
        RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, RD_KAFKA_RESP_ERR_INVALID_PARTITIONS,
        RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, RD_KAFKA_RESP_ERR_INVALID_REPLICA_ASSIGNMENT,
        RD_KAFKA_RESP_ERR_INVALID_CONFIG, RD_KAFKA_RESP_ERR_INVALID_REQUEST,
        RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT, RD_KAFKA_RESP_ERR_INVALID_RECORD,
        RD_KAFKA_RESP_ERR_INVALID_PRINCIPAL_TYPE, RD_KAFKA_RESP_ERR_INVALID_UPDATE_VERSION,
        RD_KAFKA_RESP_ERR_DUPLICATE_RESOURCE,
      ]
    ),
    (
      .no(.permission),
      [
        RD_KAFKA_RESP_ERR__SSL, RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE,
        RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_NOT_FOUND,
        RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_OWNER_MISMATCH, RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_EXPIRED,
        RD_KAFKA_RESP_ERR_UNACCEPTABLE_CREDENTIAL, RD_KAFKA_RESP_ERR_PRINCIPAL_DESERIALIZATION_FAILURE,
      ]
    ),
    (
      .no(.unsupported),
      [
        RD_KAFKA_RESP_ERR__UNKNOWN_PROTOCOL, RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED,
        RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM,
        RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION, RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
        RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE, RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
        RD_KAFKA_RESP_ERR_SECURITY_DISABLED, RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_AUTH_DISABLED,
        RD_KAFKA_RESP_ERR_TOPIC_DELETION_DISABLED, RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED,
        RD_KAFKA_RESP_ERR_FEATURE_UPDATE_FAILED,
      ]
    ),
    (
      .no(.subject),
      [
        RD_KAFKA_RESP_ERR__UNKNOWN_GROUP, RD_KAFKA_RESP_ERR__NOENT, RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS,
        RD_KAFKA_RESP_ERR_LOG_DIR_NOT_FOUND, RD_KAFKA_RESP_ERR_NON_EMPTY_GROUP, RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND,
        RD_KAFKA_RESP_ERR_ELECTION_NOT_NEEDED, RD_KAFKA_RESP_ERR_NO_REASSIGNMENT_IN_PROGRESS,
        RD_KAFKA_RESP_ERR_GROUP_SUBSCRIBED_TO_TOPIC, RD_KAFKA_RESP_ERR_RESOURCE_NOT_FOUND,
      ]
    ),
    (
      .no(.state),
      [
        RD_KAFKA_RESP_ERR__STATE, RD_KAFKA_RESP_ERR__IN_PROGRESS, RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS,
        RD_KAFKA_RESP_ERR__NO_OFFSET, RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET,
        RD_KAFKA_RESP_ERR__OUTDATED, RD_KAFKA_RESP_ERR__FATAL, RD_KAFKA_RESP_ERR__INCONSISTENT,
        RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE, RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED, RD_KAFKA_RESP_ERR__FENCED,
        RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
        RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
        RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
        RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE,
        RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING, RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID,
        RD_KAFKA_RESP_ERR_PRODUCER_FENCED, RD_KAFKA_RESP_ERR_TRANSACTION_COORDINATOR_FENCED,
        RD_KAFKA_RESP_ERR_OPERATION_NOT_ATTEMPTED,
      ]
    ),
    (.no(.unanswered), [RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER]),
    (
      .no(.closed),
      [
        RD_KAFKA_RESP_ERR__DESTROY, RD_KAFKA_RESP_ERR__PURGE_QUEUE, RD_KAFKA_RESP_ERR__INTR,
        RD_KAFKA_RESP_ERR__APPLICATION,
      ]
    ),
    (
      .no(.machine), [RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE, RD_KAFKA_RESP_ERR__FS]
    ),
    (
      .no(.data),
      [
        RD_KAFKA_RESP_ERR__BAD_MSG, RD_KAFKA_RESP_ERR__BAD_COMPRESSION, RD_KAFKA_RESP_ERR__UNDERFLOW,
        RD_KAFKA_RESP_ERR__KEY_DESERIALIZATION, RD_KAFKA_RESP_ERR__VALUE_DESERIALIZATION,
        RD_KAFKA_RESP_ERR_INVALID_MSG,
      ]
    ),
    (
      .no(.notAnError),
      [
        RD_KAFKA_RESP_ERR__BEGIN, RD_KAFKA_RESP_ERR__END, RD_KAFKA_RESP_ERR__PARTITION_EOF,
        RD_KAFKA_RESP_ERR__NODE_UPDATE, RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS, RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS,
        RD_KAFKA_RESP_ERR__NOOP, RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_RESP_ERR_MEMBER_ID_REQUIRED,
        RD_KAFKA_RESP_ERR_INCONSISTENT_VOTER_SET,
      ]
    ),
    (.no(.unknown), [RD_KAFKA_RESP_ERR__FAIL, RD_KAFKA_RESP_ERR_UNKNOWN]),
  ]

  /// Codes of librdkafka 2.1 to 2.16, which the headers of 2.0 do not have.
  private static let later: [(Retriability, [Int32])] = [
    // _DESTROY_BROKER (the client has dropped a broker), SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH,
    // SHARE_SESSION_LIMIT_REACHED.
    (.yes, [-137, 122, 123, 133]),
    // UNKNOWN_TOPIC_ID, INCONSISTENT_TOPIC_ID: also after a topic was created again.
    (.ifTopicExists, [100, 103]),
    // _INVALID_DIFFERENT_RECORD, UNSUPPORTED_ASSIGNOR, MISMATCHED_ENDPOINT_TYPE, TELEMETRY_TOO_LARGE,
    // INVALID_VOTER_KEY, INVALID_REGULAR_EXPRESSION, STREAMS_INVALID_TOPOLOGY.
    (.no(.request), [-138, 112, 114, 118, 125, 128, 130]),
    // UNSUPPORTED_ENDPOINT_TYPE.
    (.no(.unsupported), [115]),
    // UNRELEASED_INSTANCE_ID (another member has the name), UNKNOWN_CONTROLLER_ID, DUPLICATE_VOTER, VOTER_NOT_FOUND.
    (.no(.subject), [111, 116, 126, 127]),
    // _LOG_TRUNCATION, FENCED_MEMBER_EPOCH, STALE_MEMBER_EPOCH, TRANSACTION_ABORTABLE, INVALID_RECORD_STATE,
    // FENCED_STATE_EPOCH, STREAMS_INVALID_TOPOLOGY_EPOCH, STREAMS_TOPOLOGY_FENCED.
    (.no(.state), [-139, 110, 113, 120, 121, 124, 131, 132]),
    // UNKNOWN_SUBSCRIPTION_ID of telemetry and REBOOTSTRAP_REQUIRED, which librdkafka handles; INVALID_REGISTRATION of
    // brokers.
    (.no(.notAnError), [117, 119, 129]),
  ]
}
