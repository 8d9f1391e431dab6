internal import CRDKafka
internal import Synchronization

/// A librdkafka producer with its event queue and its producer id. `KafkaProducer` replaces it after a fatal error.
final class ProducerClient: Sendable {
  let handle: ClientHandle
  private let pump: PollLoop
  private let room: QueueSpaceWaiters
  private let deadlines = SendDeadlines()
  /// Whether a failed record requires an abort of its transaction.
  private let isTransactional: Bool
  /// The number of records that librdkafka has accepted and not reported on.
  private let unreported = Atomic<Int>(0)
  private let failed = Atomic<Bool>(false)
  /// Whether the client takes no further records, because their reports would not be served.
  private let isClosed = Atomic<Bool>(false)
  private let abandonedFor = Mutex<KafkaError?>(nil)

  /// Creates a client.
  /// - Parameters:
  ///   - room: Woken when delivery reports make room in the queue.
  ///   - requests: Counts the client's requests without an answer.
  init(
    _ configuration: KafkaConfiguration, properties: [String: String], observer: ClientObserver,
    room: QueueSpaceWaiters, requests: UnansweredRequests? = nil
  ) throws(KafkaError) {
    handle = try ClientHandle(
      .producer, properties: properties, label: configuration.clientID, gate: configuration.gate,
      tokens: configuration.tokens, requests: requests)
    pump = PollLoop(handle: handle, observer: observer)
    self.room = room
    isTransactional = properties["transactional.id"] != nil
  }

  /// Whether the client had a fatal error, after which it sends nothing more, or was abandoned.
  var hasFailed: Bool { failed.load(ordering: .sequentiallyConsistent) }

  /// The error for which the client is or will be replaced; nil if there is none.
  var failure: KafkaError? { handle.fatalError ?? abandonedFor.withLock { $0 } }

  /// Lets the client be replaced although it has no fatal error.
  func abandon(_ reason: KafkaError) {
    abandonedFor.withLock { $0 = reason }
    failed.store(true, ordering: .sequentiallyConsistent)
    handle.wake.signal()
  }

  /// Serves events until `isFinished` returns true.
  /// - Parameter onTick: Called every second.
  func serve(
    until isFinished: () -> Bool, onTick: @escaping @Sendable () -> Void, onFatal: () -> Void
  ) async {
    await pump.run(
      isFinished: isFinished,
      onTick: onTick,
      onFatal: {
        failed.store(true, ordering: .sequentiallyConsistent)
        onFatal()
      },
      onServed: { room.wakeAll() },
      onEvent: { event in self.deliver(event) })
  }

  /// Accepts no further records, and serves reports until every record has one. After a fatal error librdkafka reports
  /// queued records as failed.
  /// - Parameter patience: How long to wait for answers to requests on the wire before purging them.
  func drain(patience: Duration) async {
    let cut = ContinuousClock.now + patience
    isClosed.store(true, ordering: .sequentiallyConsistent)
    guard unreported.load(ordering: .sequentiallyConsistent) > 0 else { return }
    if patience <= .zero { purge(inFlight: true) }
    await pump.run(
      isFinished: { unreported.load(ordering: .sequentiallyConsistent) == 0 },
      // A failing request puts its records back into the queue, so this purges the queue repeatedly.
      onTick: { self.purge(inFlight: ContinuousClock.now >= cut) },
      onFatal: {},
      onServed: { room.wakeAll() },
      onEvent: { event in self.deliver(event) })
  }

  /// Purges queued records and, if `inFlight` is true, records on the wire. They fail with `purged` or `inDoubt`.
  func purge(inFlight: Bool) {
    let onTheWire = inFlight ? RD_KAFKA_PURGE_F_INFLIGHT : 0
    rd_kafka_purge(handle.rk, Int32(RD_KAFKA_PURGE_F_QUEUE | onTheWire | RD_KAFKA_PURGE_F_NON_BLOCKING))
  }

  /// Sends one record and returns its outcome.
  /// - Parameter deadline: The end of the wait; nil leaves the time limit to librdkafka.
  func attempt(_ record: ProducerRecord, until deadline: ContinuousClock.Instant?) async -> DeliveryOutcome {
    await withUnsafeContinuation { continuation in
      let pending = PendingDelivery(
        topic: record.topic, isTransactional: isTransactional, deadlines: deadline == nil ? nil : deadlines
      ) { continuation.resume(returning: $0) }
      if let deadline { deadlines.add(pending, until: deadline) }
      if let error = take(record, pending) { pending.finish(.failed(error)) }
    }
  }

  /// Sends as many records as the queue has room for and returns their outcomes, in order.
  func attempt(_ records: ArraySlice<ProducerRecord>) async -> [DeliveryOutcome] {
    await withUnsafeContinuation { continuation in
      let batch = BatchDelivery(continuation)
      for record in records {
        let index = batch.open()
        let pending = PendingDelivery(topic: record.topic, isTransactional: isTransactional) { outcome in
          batch.settle(index, outcome)
        }
        guard let error = take(record, pending) else { continue }
        guard error.code == .queueFull else {
          pending.finish(.failed(error))
          continue
        }
        batch.withdraw(index)
        break
      }
      batch.seal()
    }
  }

  /// Passes a record to librdkafka. Returns nil if librdkafka accepted it; its report then finishes `pending`.
  private func take(_ record: ProducerRecord, _ pending: PendingDelivery) -> KafkaError? {
    let opaque = Unmanaged.passRetained(pending)
    unreported.add(1, ordering: .sequentiallyConsistent)
    let error =
      isClosed.load(ordering: .sequentiallyConsistent)
      ? closedError(for: record) : handle.produce(record, opaque: opaque.toOpaque())
    guard let error else { return nil }
    unreported.subtract(1, ordering: .sequentiallyConsistent)
    opaque.release()
    return error
  }

  private func closedError(for record: ProducerRecord) -> KafkaError {
    var error = failure ?? KafkaError(code: .closed, operation: "send", reason: "the client is shut down")
    error.operation = "send to \(record.topic)"
    error.persistence = .notPersisted
    return error
  }

  private func deliver(_ event: OpaquePointer) {
    guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR else { return }
    while let message = rd_kafka_event_message_next(event) {
      guard let opaque = message.pointee._private else { continue }
      let pending = Unmanaged<PendingDelivery>.fromOpaque(opaque).takeRetainedValue()
      unreported.subtract(1, ordering: .sequentiallyConsistent)
      pending.report(message)
    }
  }

  /// Whether the cluster answers, and every partition of a topic has a leader and all of its replicas. Blocks.
  func isHealthy(_ topic: String, timeout: Duration) -> Bool {
    guard let asked = rd_kafka_topic_new(handle.rk, topic, nil) else { return false }
    defer { rd_kafka_topic_destroy(asked) }
    var metadata: UnsafePointer<rd_kafka_metadata>?
    let error = rd_kafka_metadata(handle.rk, 0, asked, &metadata, Int32(clamping: timeout.wholeMilliseconds))
    guard error == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { return false }
    defer { rd_kafka_metadata_destroy(metadata) }
    let topics = UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
    return topics.contains { found in
      found.err == RD_KAFKA_RESP_ERR_NO_ERROR && found.partition_cnt > 0
        && UnsafeBufferPointer(start: found.partitions, count: Int(found.partition_cnt)).allSatisfy {
          $0.err == RD_KAFKA_RESP_ERR_NO_ERROR && $0.leader >= 0 && $0.isr_cnt == $0.replica_cnt
        }
    }
  }

  /// Fetches the metadata of topics. Blocks.
  func learn(_ topics: some Sequence<String>, timeout: Duration) throws(KafkaError) {
    let known = topics.compactMap { rd_kafka_topic_new(handle.rk, $0, nil) }
    defer { for topic in known { rd_kafka_topic_destroy(topic) } }
    for _ in 0..<(Self.losesFirstConnection ? 2 : 1) {
      var metadata: UnsafePointer<rd_kafka_metadata>?
      let error = rd_kafka_metadata(handle.rk, 0, nil, &metadata, Int32(clamping: timeout.wholeMilliseconds))
      guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
        throw KafkaError(error, operation: "read the metadata of topics")
      }
      if let metadata { rd_kafka_metadata_destroy(metadata) }
    }
  }

  /// Whether the first answer of a cluster leaves the client without a connection. From 2.10 on, librdkafka then gives up
  /// the bootstrap servers. It looks for a broker that gives it a producer id at this moment, finds none, and looks again
  /// after 500 ms. The next answer comes from a broker that stays, so the client looks earlier.
  static var losesFirstConnection: Bool { rd_kafka_version() >= 0x020a_0000 }

  /// Raises a fatal error, as after a lost sequence. For tests.
  func failForTest() {
    rd_kafka_test_fatal_error(handle.rk, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "raised by a test")
  }
}

extension ClientHandle {
  /// Passes a record to librdkafka, which copies it. Returns nil if librdkafka accepted it.
  func produce(_ record: ProducerRecord, opaque: UnsafeMutableRawPointer) -> KafkaError? {
    let headers = record.headers.makeNative()
    let error = withBytes(record.key) { key in
      withBytes(record.value) { value in
        millrace_produce(
          rk, record.topic, record.partition ?? RD_KAFKA_PARTITION_UA, key.baseAddress, key.count, value.baseAddress,
          value.count, headers, record.timestamp ?? 0, opaque)
      }
    }
    guard let error else { return nil }
    if let headers { rd_kafka_headers_destroy(headers) }
    var refusal = KafkaError(consuming: error, operation: "send to \(record.topic)")
    refusal.persistence = .notPersisted
    return refusal
  }

  /// Calls `body` with a null pointer for nil and a valid pointer for empty bytes, because a tombstone is not an empty
  /// value.
  private func withBytes<Result>(
    _ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    guard let bytes else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    return bytes.withUnsafeBytes { buffer in
      guard buffer.baseAddress == nil else { return body(buffer) }
      return withUnsafePointer(to: 0 as UInt8) { body(UnsafeRawBufferPointer(start: $0, count: 0)) }
    }
  }
}
