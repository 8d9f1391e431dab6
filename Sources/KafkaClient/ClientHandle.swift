internal import CRDKafka

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Owns one `rd_kafka_t` and its main event queue.
///
/// librdkafka's handle can be used from any thread (INTRODUCTION.md, "Threads and callbacks"). Every user keeps a
/// reference to this object, so the handle is destroyed after the last use. Destroying blocks and therefore runs on the
/// client's own thread.
final class ClientHandle: @unchecked Sendable {
  // Sendable: `rk` and `queue` are never reassigned, and librdkafka locks internally.
  let rk: OpaquePointer
  let queue: OpaquePointer
  let wake = AsyncSignal()
  let blocking: BlockingThread
  /// The delays by quotas. librdkafka reports them while its event queue is served.
  let throttles = ThrottleFeed()
  /// Retained for as long as librdkafka may call it.
  private let callbacks: ClientCallbacks

  enum Role {
    case producer, consumer

    var type: rd_kafka_type_t { self == .producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER }

    var events: Int32 {
      let common = RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS | RD_KAFKA_EVENT_LOG
      return switch self {
      case .producer: common | RD_KAFKA_EVENT_DR
      case .consumer: common | RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT
      }
    }
  }

  init(
    _ role: Role, properties: [String: String], label: String, gate: NetworkFaultInjector? = nil,
    tokens: KafkaTokenSource? = nil, requests: UnansweredRequests? = nil
  ) throws(KafkaError) {
    _ = OpenSSLAtExit.isPrevented
    callbacks = ClientCallbacks(
      gate: gate, tokens: tokens.map(ClientTokens.init), requests: requests, throttles: throttles)
    let conf = rd_kafka_conf_new()
    var message = [CChar](repeating: 0, count: 512)
    for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
      guard rd_kafka_conf_set(conf, name, value, &message, message.count) == RD_KAFKA_CONF_OK else {
        rd_kafka_conf_destroy(conf)
        throw KafkaError(
          code: .invalidConfiguration, operation: "configure \(label)", reason: String(terminated: message))
      }
    }
    rd_kafka_conf_set_events(conf, role.events)
    callbacks.install(on: conf)
    guard let rk = rd_kafka_new(role.type, conf, &message, message.count) else {
      rd_kafka_conf_destroy(conf)
      throw KafkaError(
        code: .invalidConfiguration, operation: "start \(label)", reason: String(terminated: message))
    }
    if tokens != nil, let error = rd_kafka_sasl_background_callbacks_enable(rk) {
      defer { rd_kafka_error_destroy(error) }
      let reason = rd_kafka_error_string(error).map { String(cString: $0) } ?? ""
      rd_kafka_destroy(rk)
      throw KafkaError(code: .invalidConfiguration, operation: "start \(label)", reason: reason)
    }
    self.rk = rk
    self.blocking = BlockingThread(label: label)
    if role == .consumer { rd_kafka_poll_set_consumer(rk) }
    let consumerQueue = role == .consumer ? rd_kafka_queue_get_consumer(rk) : nil
    guard let queue = consumerQueue ?? rd_kafka_queue_get_main(rk) else {
      rd_kafka_destroy(rk)
      throw KafkaError(code: .invalidConfiguration, operation: "start \(label)", reason: "no event queue")
    }
    self.queue = queue
    rd_kafka_set_log_queue(rk, queue)
    QueueWakeUp.enable(on: queue, signal: wake)
  }

  deinit {
    QueueWakeUp.disable(on: queue, signal: wake)
    rd_kafka_queue_destroy(queue)
    nonisolated(unsafe) let rk = self.rk
    blocking.schedule { [callbacks] in
      rd_kafka_destroy_flags(rk, Int32(RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE))
      withExtendedLifetime(callbacks) {}
    }
  }

  /// The fatal error that ended this client, if there is one, such as an idempotent producer's lost sequence.
  var fatalError: KafkaError? {
    var message = [CChar](repeating: 0, count: 512)
    let code = rd_kafka_fatal_error(rk, &message, message.count)
    guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
    return KafkaError(
      code: .of(code), operation: "client", reason: String(terminated: message), isFatal: true)
  }
}

/// Callbacks that librdkafka calls on its own threads.
private final class ClientCallbacks: Sendable {
  let gate: NetworkFaultInjector?
  let tokens: ClientTokens?
  let requests: UnansweredRequests?
  let throttles: ThrottleFeed

  init(
    gate: NetworkFaultInjector?, tokens: ClientTokens?, requests: UnansweredRequests?, throttles: ThrottleFeed
  ) {
    self.gate = gate
    self.tokens = tokens
    self.requests = requests
    self.throttles = throttles
  }

  func install(on conf: OpaquePointer?) {
    rd_kafka_conf_set_opaque(conf, Unmanaged.passUnretained(self).toOpaque())
    if gate != nil {
      rd_kafka_conf_set_connect_cb(conf) { socket, address, length, _, opaque in
        ClientCallbacks.of(opaque)?.gate?.connect(socket, address, socklen_t(length)) ?? EINVAL
      }
      rd_kafka_conf_set_closesocket_cb(conf) { socket, opaque in
        ClientCallbacks.of(opaque)?.gate?.closeSocket(socket) ?? -1
      }
    }
    requests?.install(on: conf)
    rd_kafka_conf_set_throttle_cb(conf) { _, broker, _, milliseconds, opaque in
      ClientCallbacks.of(opaque)?.throttles.add(
        broker.map { String(cString: $0) } ?? "", .milliseconds(Int(milliseconds)))
    }
    if tokens != nil {
      rd_kafka_conf_enable_sasl_queue(conf, 1)
      rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf) { rk, _, opaque in
        ClientCallbacks.of(opaque)?.tokens?.refresh(rk)
      }
    }
  }

  private static func of(_ opaque: UnsafeMutableRawPointer?) -> ClientCallbacks? {
    opaque.map { Unmanaged<ClientCallbacks>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// Connects a queue of librdkafka to a ``AsyncSignal``. Enabling and disabling take the queue's lock, so no callback
/// runs after `disable`, and its reference can be released.
enum QueueWakeUp {
  static func enable(on queue: OpaquePointer, signal: AsyncSignal) {
    rd_kafka_queue_cb_event_enable(
      queue,
      { _, opaque in
        guard let opaque else { return }
        Unmanaged<AsyncSignal>.fromOpaque(opaque).takeUnretainedValue().signal()
      },
      Unmanaged.passRetained(signal).toOpaque())
    // Events that arrived before the callback was set did not trigger it.
    signal.signal()
  }

  static func disable(on queue: OpaquePointer, signal: AsyncSignal) {
    rd_kafka_queue_cb_event_enable(queue, nil, nil)
    Unmanaged.passUnretained(signal).release()
  }
}

extension String {
  /// Creates a string from a NUL-terminated C buffer and repairs invalid UTF-8.
  init(terminated buffer: [CChar]) {
    self.init(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
