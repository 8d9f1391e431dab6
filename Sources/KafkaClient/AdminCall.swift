internal import CRDKafka

/// One administrative request with a time limit. Blocks its thread.
struct AdminCall {
  let handle: ClientHandle
  let milliseconds: Int32
  let operation: String

  init(_ handle: ClientHandle, _ timeout: Duration, _ operation: String) {
    self.handle = handle
    self.milliseconds = max(1, Int32(clamping: timeout.wholeMilliseconds))
    self.operation = operation
  }

  func run(
    _ request: (OpaquePointer, OpaquePointer?, OpaquePointer) -> Void,
    results: (OpaquePointer) -> (rd_kafka_resp_err_t, String?)?
  ) throws(KafkaError) {
    guard let queue = rd_kafka_queue_new(handle.rk) else {
      throw KafkaError(RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE, operation: operation)
    }
    defer { rd_kafka_queue_destroy(queue) }
    let options = rd_kafka_AdminOptions_new(handle.rk, RD_KAFKA_ADMIN_OP_ANY)
    defer { rd_kafka_AdminOptions_destroy(options) }
    var message = [CChar](repeating: 0, count: 256)
    rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, &message, message.count)
    request(handle.rk, options, queue)
    // A broker that does not support the request may never answer, so this waits little longer than the request's
    // limit.
    guard let event = rd_kafka_queue_poll(queue, milliseconds &+ 500) else {
      throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, operation: operation)
    }
    defer { rd_kafka_event_destroy(event) }
    let error = rd_kafka_event_error(event)
    guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
      throw described(error, rd_kafka_event_error_string(event).map { String(cString: $0) })
    }
    if let (error, reason) = results(event) { throw described(error, reason) }
  }

  private func described(_ error: rd_kafka_resp_err_t, _ reason: String?) -> KafkaError {
    var described = KafkaError(error, operation: operation)
    if let reason { described.reason = reason }
    return described
  }
}

/// Reads the settings of topics.
enum TopicConfigReader {
  static func fill(
    _ topics: [TopicDescription], _ handle: ClientHandle, _ timeout: Duration
  ) throws(KafkaError) -> [TopicDescription] {
    var resources = topics.map { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0.name) }
    defer { for resource in resources { rd_kafka_ConfigResource_destroy(resource) } }
    var found: [String: Entries] = [:]
    try AdminCall(handle, timeout, "read topic settings (DescribeConfigs)").run { rk, options, queue in
      rd_kafka_DescribeConfigs(rk, &resources, resources.count, options, queue)
    } results: { event in
      var count = 0
      let described = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event), &count)
      for resource in UnsafeBufferPointer(start: described, count: count) {
        guard let resource, let name = rd_kafka_ConfigResource_name(resource).map({ String(cString: $0) }) else {
          continue
        }
        let error = rd_kafka_ConfigResource_error(resource)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
          let reason = rd_kafka_ConfigResource_error_string(resource).map { String(cString: $0) }
          return (error, "\(name): \(reason ?? "no reason given")")
        }
        found[name] = entries(of: resource)
      }
      return nil
    }
    return topics.map { topic in
      var topic = topic
      topic.settings = found[topic.name]?.settings
      topic.overrides = found[topic.name]?.overrides ?? []
      topic.readOnly = found[topic.name]?.readOnly ?? []
      return topic
    }
  }

  static func firstError(
    _ resources: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int
  ) -> (rd_kafka_resp_err_t, String?)? {
    for resource in UnsafeBufferPointer(start: resources, count: count) {
      let error = rd_kafka_ConfigResource_error(resource)
      if error != RD_KAFKA_RESP_ERR_NO_ERROR {
        return (error, rd_kafka_ConfigResource_error_string(resource).map { String(cString: $0) })
      }
    }
    return nil
  }

  private struct Entries {
    var settings: [String: String] = [:]
    var overrides: Set<String> = []
    var readOnly: Set<String> = []
  }

  private static func entries(of resource: OpaquePointer) -> Entries {
    var count = 0
    let entries = rd_kafka_ConfigResource_configs(resource, &count)
    var found = Entries()
    for entry in UnsafeBufferPointer(start: entries, count: count) {
      guard let entry, let name = rd_kafka_ConfigEntry_name(entry).map({ String(cString: $0) }) else { continue }
      found.settings[name] = rd_kafka_ConfigEntry_value(entry).map { String(cString: $0) }
      if rd_kafka_ConfigEntry_is_read_only(entry) != 0 { found.readOnly.insert(name) }
      if rd_kafka_ConfigEntry_source(entry) == RD_KAFKA_CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG {
        found.overrides.insert(name)
      }
    }
    return found
  }
}
