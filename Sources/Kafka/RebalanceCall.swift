internal import CRDKafka

/// The two ways librdkafka is told that a rebalance was handled. The eager protocol replaces the assignment.
enum RebalanceCall {
  static func assign(
    _ list: UnsafePointer<rd_kafka_topic_partition_list_t>, incrementally: Bool, on handle: ClientHandle
  ) -> KafkaError? {
    incrementally
      ? rd_kafka_incremental_assign(handle.rk, list).map { KafkaError(consuming: $0, operation: "assign") }
      : error(rd_kafka_assign(handle.rk, list), "assign")
  }

  static func unassign(
    _ list: UnsafePointer<rd_kafka_topic_partition_list_t>, incrementally: Bool, on handle: ClientHandle
  ) -> KafkaError? {
    incrementally
      ? rd_kafka_incremental_unassign(handle.rk, list).map { KafkaError(consuming: $0, operation: "unassign") }
      : error(rd_kafka_assign(handle.rk, nil), "unassign")
  }

  private static func error(_ code: rd_kafka_resp_err_t, _ operation: String) -> KafkaError? {
    code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(code, operation: operation)
  }
}
