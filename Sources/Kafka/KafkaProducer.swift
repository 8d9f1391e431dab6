internal import CRDKafka
internal import Synchronization

/// Writes records; `send` returns when the brokers have acknowledged (`acks=all`, idempotent).
///
/// ```swift
/// let producer = try KafkaProducer(configuration)
/// async let running: Void = producer.run()
/// let position = try await producer.send(ProducerRecord(topic: "t", key: key, value: value))
/// producer.shutDown()
/// try await running
/// ```
///
/// Sends complete only while ``run()`` runs. Follows librdkafka's INTRODUCTION.md, "Message reliability".
public final class KafkaProducer: Sendable {
  let handle: ClientHandle
  private let pump: EventPump
  private let room = RoomWaiters()
  private let phase = Atomic<Phase>(.open)
  private let unfinished = Atomic<Int>(0)

  /// How long a send can take before it fails: `message.timeout.ms`, queueing included.
  public let sendTimeout: Duration

  /// A record that fails inside a transaction dooms the transaction.
  private let isTransactional: Bool

  private enum Phase: UInt8, AtomicRepresentable { case open, closing }

  /// Starts a client. No connection is awaited: an unreachable cluster shows in ``send(_:)``.
  /// - Parameters:
  ///   - sendTimeout: librdkafka's `message.timeout.ms`; whole milliseconds, at least 1.
  ///   - observer: hears logs, errors and statistics.
  /// - Throws: ``KafkaError`` with code `invalidConfiguration` where a property is unknown, malformed or protected.
  public convenience init(
    _ configuration: KafkaConfiguration, sendTimeout: Duration = .seconds(30),
    observer: ClientObserver = ClientObserver()
  ) throws(KafkaError) {
    try self.init(
      configuration, properties: try configuration.producerProperties(), sendTimeout: sendTimeout, observer: observer)
  }

  init(
    _ configuration: KafkaConfiguration, properties: [String: String], sendTimeout: Duration, observer: ClientObserver
  ) throws(KafkaError) {
    var properties = properties
    properties["message.timeout.ms"] = String(max(1, sendTimeout.wholeMilliseconds))
    handle = try ClientHandle(
      .producer, properties: properties, label: configuration.clientID, gate: configuration.gate)
    pump = EventPump(handle: handle, observer: observer)
    self.sendTimeout = sendTimeout
    isTransactional = properties["transactional.id"] != nil
  }

  /// Records handed to ``send(_:)`` whose outcome is not known yet.
  public var inFlight: Int { unfinished.load(ordering: .relaxed) }

  /// Writes one record and returns its position once all in-sync replicas have it.
  ///
  /// A full local queue suspends the caller until a report makes room. Cancelling the task does not withdraw the
  /// record, because it may be on the wire already: the call still waits for the report, at most ``sendTimeout``.
  /// - Throws: ``KafkaError``; `messageTimedOut` where no acknowledgement came in time. The record may then be in
  ///   Kafka or not.
  public func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    unfinished.add(1, ordering: .sequentiallyConsistent)
    defer {
      let left = unfinished.subtract(1, ordering: .sequentiallyConsistent).newValue
      if left == 0, phase.load(ordering: .sequentiallyConsistent) == .closing { handle.wake.signal() }
    }
    let deadline = ContinuousClock.now + sendTimeout
    var isFirst = true
    while true {
      guard phase.load(ordering: .sequentiallyConsistent) == .open else {
        throw KafkaError(code: .closed, operation: "send to \(record.topic)", reason: "the producer is shut down")
      }
      let ticket = room.ticket()
      // librdkafka counts its limit from each attempt: after a wait for room, what is left of ours is less.
      switch await attempt(record, until: isFirst ? nil : deadline) {
      case .acknowledged(let position): return position
      case .failed(let error) where error.code == .queueFull:
        guard await room.wait(ticket, until: deadline) else { throw error }
        isFirst = false
      case .failed(let error): throw error
      }
    }
  }

  /// Writes records in their order and returns their positions once all in-sync replicas have all of them: one wait for
  /// the whole, where as many calls of ``send(_:)`` would have no order among each other.
  /// - Throws: ``KafkaError`` of the first record that failed, after the outcome of every record that was taken is known.
  public func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition] {
    unfinished.add(1, ordering: .sequentiallyConsistent)
    defer {
      let left = unfinished.subtract(1, ordering: .sequentiallyConsistent).newValue
      if left == 0, phase.load(ordering: .sequentiallyConsistent) == .closing { handle.wake.signal() }
    }
    var deadline = ContinuousClock.now + sendTimeout
    var positions: [RecordPosition] = []
    positions.reserveCapacity(records.count)
    while positions.count < records.count {
      guard phase.load(ordering: .sequentiallyConsistent) == .open else {
        throw KafkaError(code: .closed, operation: "send \(records.count) records", reason: "the producer is shut down")
      }
      let ticket = room.ticket()
      let outcomes = await attempt(records[positions.count...])
      for outcome in outcomes {
        switch outcome {
        case .acknowledged(let position): positions.append(position)
        case .failed(let error): throw error
        }
      }
      if !outcomes.isEmpty {
        deadline = ContinuousClock.now + sendTimeout
      } else if !(await room.wait(ticket, until: deadline)) {
        throw KafkaError(
          code: .queueFull, operation: "send \(records.count) records", reason: "no room in the queue",
          isRetriable: true)
      }
    }
    return positions
  }

  /// The outcomes of as many records as there was room for, in order.
  private func attempt(_ records: ArraySlice<ProducerRecord>) async -> [DeliveryOutcome] {
    await withUnsafeContinuation { continuation in
      let batch = BatchDelivery(continuation)
      for record in records {
        let index = batch.open()
        let pending = PendingDelivery(topic: record.topic, isTransactional: isTransactional) { outcome in
          batch.settle(index, outcome)
        }
        let opaque = Unmanaged.passRetained(pending)
        guard let error = handle.produce(record, opaque: opaque.toOpaque()) else { continue }
        opaque.release()
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

  /// Learns where the partitions of these topics are. Without it the first record to each topic waits up to a second:
  /// librdkafka looks for topics it has just heard of once a second.
  /// - Throws: ``KafkaError`` where no broker answered in time. Sending works all the same once one does.
  public func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {
    try await handle.blocking.run { [handle] () throws(KafkaError) in
      let known = topics.compactMap { rd_kafka_topic_new(handle.rk, $0, nil) }
      defer { for topic in known { rd_kafka_topic_destroy(topic) } }
      var metadata: UnsafePointer<rd_kafka_metadata>?
      let error = rd_kafka_metadata(handle.rk, 0, nil, &metadata, Int32(clamping: timeout.wholeMilliseconds))
      guard error == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(error, operation: "look for topics") }
      if let metadata { rd_kafka_metadata_destroy(metadata) }
    }
  }

  private func attempt(
    _ record: ProducerRecord, until deadline: ContinuousClock.Instant?
  ) async -> DeliveryOutcome {
    await withUnsafeContinuation { continuation in
      let pending = PendingDelivery(
        topic: record.topic, isTransactional: isTransactional
      ) { continuation.resume(returning: $0) }
      let opaque = Unmanaged.passRetained(pending)
      if let error = handle.produce(record, opaque: opaque.toOpaque()) {
        opaque.release()
        pending.finish(.failed(error))
      } else if let deadline {
        pending.expire(at: deadline)
      }
    }
  }

  /// Serves delivery reports until ``shutDown()`` was called and every send has its outcome.
  ///
  /// Cancelling the task purges what is queued; those sends fail with `purged`, or `inDoubt` where already on the wire.
  /// - Throws: the fatal error that ended the client, where there was one.
  public func run() async throws(KafkaError) {
    let serving = Task {
      await pump.run(
        isFinished: {
          self.phase.load(ordering: .sequentiallyConsistent) == .closing
            && self.unfinished.load(ordering: .sequentiallyConsistent) == 0
        },
        onTick: {},
        // Nothing more can be sent: ending the run is what lets a supervisor start anew.
        onFatal: { self.shutDown() },
        onServed: { room.wakeAll() },
        onEvent: { event in self.deliver(event) })
    }
    await withTaskCancellationHandler {
      await serving.value
    } onCancel: {
      shutDown()
      // Sends that wait for room find the phase changed; those in librdkafka's hands come back as reports.
      rd_kafka_purge(
        handle.rk, Int32(RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING))
    }
    if let fatal = handle.fatalError { throw fatal }
  }

  /// Takes no more records. ``run()`` returns when every record already taken has its outcome.
  public func shutDown() {
    phase.store(.closing, ordering: .sequentiallyConsistent)
    room.wakeAll()
    handle.wake.signal()
  }

  private func deliver(_ event: OpaquePointer) {
    guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR else { return }
    while let message = rd_kafka_event_message_next(event) {
      guard let opaque = message.pointee._private else { continue }
      let pending = Unmanaged<PendingDelivery>.fromOpaque(opaque).takeRetainedValue()
      pending.report(message.pointee)
    }
  }
}

/// What became of one attempt to write a record.
enum DeliveryOutcome: Sendable {
  case acknowledged(RecordPosition)
  case failed(KafkaError)
}

/// Travels through librdkafka in the message's opaque pointer and ends the wait of the task that sent it, once.
private final class PendingDelivery: Sendable {
  private let topic: String
  private let isTransactional: Bool
  private let state: Mutex<State>

  private struct State {
    var done: (@Sendable (DeliveryOutcome) -> Void)?
    var alarm: Task<Void, Never>?
  }

  init(topic: String, isTransactional: Bool, done: @escaping @Sendable (DeliveryOutcome) -> Void) {
    self.topic = topic
    self.isTransactional = isTransactional
    state = Mutex(State(done: done))
  }

  func report(_ message: rd_kafka_message_t) {
    if message.err == RD_KAFKA_RESP_ERR_NO_ERROR {
      finish(.acknowledged(RecordPosition(topic: topic, partition: message.partition, offset: message.offset)))
    } else {
      finish(.failed(failure(message.err)))
    }
  }

  private func failure(_ code: rd_kafka_resp_err_t) -> KafkaError {
    var error = KafkaError(code, operation: "send to \(topic)")
    error.requiresAbort = isTransactional
    error.isRetriable = error.isRetriable && !isTransactional
    return error
  }

  func finish(_ outcome: DeliveryOutcome) {
    let ended = state.withLock { state in
      defer { state = State() }
      return state
    }
    ended.alarm?.cancel()
    ended.done?(outcome)
  }

  /// Ends the wait at the deadline; the report that comes later finds nobody.
  func expire(at deadline: ContinuousClock.Instant) {
    let alarm = Task { [weak self] in
      do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return }
      guard let self else { return }
      finish(.failed(failure(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)))
    }
    let isOver = state.withLock { state in
      if state.done != nil { state.alarm = alarm }
      return state.done == nil
    }
    if isOver { alarm.cancel() }
  }
}

/// Gathers the outcomes of records that were handed over together.
private final class BatchDelivery: Sendable {
  private struct State {
    var outcomes: [DeliveryOutcome?] = []
    var open = 0
    var isSealed = false
    var continuation: UnsafeContinuation<[DeliveryOutcome], Never>?
  }

  private let state: Mutex<State>

  init(_ continuation: UnsafeContinuation<[DeliveryOutcome], Never>) {
    state = Mutex(State(continuation: continuation))
  }

  /// A record that is about to be handed over.
  func open() -> Int {
    state.withLock { state in
      state.outcomes.append(nil)
      state.open += 1
      return state.outcomes.count - 1
    }
  }

  /// The last record opened was not taken.
  func withdraw(_ index: Int) {
    state.withLock { state in
      state.outcomes.removeSubrange(index...)
      state.open -= 1
    }
  }

  func settle(_ index: Int, _ outcome: DeliveryOutcome) {
    finish { state in
      guard state.outcomes.indices.contains(index), state.outcomes[index] == nil else { return }
      state.outcomes[index] = outcome
      state.open -= 1
    }
  }

  /// No more records come.
  func seal() { finish { $0.isSealed = true } }

  private func finish(_ change: (inout State) -> Void) {
    let (continuation, outcomes) = state.withLock { state in
      change(&state)
      guard state.isSealed, state.open == 0 else {
        return (nil as UnsafeContinuation<[DeliveryOutcome], Never>?, [] as [DeliveryOutcome])
      }
      defer { state.continuation = nil }
      return (state.continuation, state.outcomes.compactMap { $0 })
    }
    continuation?.resume(returning: outcomes)
  }
}

extension ClientHandle {
  /// Hands a record to librdkafka, which copies it. Returns nil where it was taken.
  fileprivate func produce(_ record: ProducerRecord, opaque: UnsafeMutableRawPointer) -> KafkaError? {
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
    return KafkaError(consuming: error, operation: "send to \(record.topic)")
  }

  /// A null pointer for nil, a valid one for empty: Kafka tells a tombstone from an empty value.
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

extension Duration {
  /// Rounded down; saturates at what librdkafka's settings can hold.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
    guard !milliseconds.overflow else { return seconds < 0 ? 0 : Int64(Int32.max) }
    return min(Int64(Int32.max), milliseconds.partialValue + attoseconds / 1_000_000_000_000_000)
  }
}
