internal import Synchronization

/// An idempotent producer with `acks=all`; `send` returns once the brokers have acknowledged the record.
///
/// ```swift
/// let producer = try KafkaProducer(configuration)
/// async let running: Void = producer.run()
/// let position = try await producer.send(ProducerRecord(topic: "t", key: key, value: value))
/// producer.shutDown()
/// try await running
/// ```
///
/// Sends complete only while ``run()`` runs. After a fatal error of librdkafka's idempotent producer, the producer
/// replaces its client with a new one, which has a new producer id, and continues. See librdkafka's INTRODUCTION.md,
/// "Message reliability" and "Idempotent Producer".
public final class KafkaProducer: Sendable {
  private let state: Mutex<State>
  private let makeClient: @Sendable () throws(KafkaError) -> ProducerClient
  private let observer: ClientObserver
  private let room = QueueSpaceWaiters()
  private let closing = QueueSpaceWaiters()
  private let phase = Atomic<Phase>(.open)
  private let unfinished = Atomic<Int>(0)
  private let replacing: BlockingThread
  /// The calls of a transactional producer.
  private let calls: LimitedCalls?

  /// The time limit for a send, including queueing.
  public let sendTimeout: Duration

  /// Whether librdkafka keeps a record for longer than its send waits.
  private let isPatient: Bool

  /// The owner handles a fatal error of a transactional producer, because a new client has to initialize transactions.
  private let isTransactional: Bool

  /// How long to wait for answers to requests on the wire after a fatal error. `socket.timeout.ms` limits them too.
  static let drainPatience = Duration.seconds(5)
  /// The time limit for a new client to fetch the metadata of its predecessor's topics.
  private static let learnTimeout = Duration.seconds(10)
  /// The time limit for the first connection. Other calls wait for it.
  private static let connectTimeout = Duration.seconds(2)

  private enum Phase: UInt8, AtomicRepresentable {
    case open, closing
    /// The run was cancelled, and unwritten records are withdrawn.
    case purging
  }

  private struct State {
    var client: ProducerClient
    /// The replaced clients that still wait for delivery reports.
    var retired: [ProducerClient] = []
    var topics: Set<String> = []
    /// When it was last asked why a client does not reach a topic.
    var lookedAt: ContinuousClock.Instant?
  }

  /// Creates a client without waiting for a connection. If the cluster is unreachable, ``send(_:)`` fails.
  /// - Parameters:
  ///   - sendTimeout: The time limit for a send; whole milliseconds, at least 1.
  ///   - deliveryTimeout: librdkafka's `message.timeout.ms`, at least `sendTimeout`; nil means `sendTimeout`. With a
  ///     longer limit librdkafka may still write a record whose send has failed.
  ///   - observer: Receives logs, errors, statistics and replacements.
  /// - Throws: ``KafkaError`` with code `invalidConfiguration` if a property is unknown, malformed or protected.
  public convenience init(
    _ configuration: KafkaConfiguration, sendTimeout: Duration = .seconds(30), deliveryTimeout: Duration? = nil,
    observer: ClientObserver = ClientObserver()
  ) throws(KafkaError) {
    try self.init(
      configuration, properties: try configuration.plainProducerProperties(), sendTimeout: sendTimeout,
      deliveryTimeout: deliveryTimeout, observer: observer)
  }

  init(
    _ configuration: KafkaConfiguration, properties: [String: String], sendTimeout: Duration,
    deliveryTimeout: Duration? = nil, observer: ClientObserver, requests: UnansweredRequests? = nil,
    calls: LimitedCalls? = nil
  ) throws(KafkaError) {
    let deliveryTimeout = max(sendTimeout, deliveryTimeout ?? sendTimeout)
    var properties = properties
    properties["message.timeout.ms"] = String(max(1, deliveryTimeout.wholeMilliseconds))
    let makeClient = { @Sendable [properties, room] () throws(KafkaError) in
      try ProducerClient(
        configuration, properties: properties, observer: observer, room: room, requests: requests)
    }
    state = Mutex(State(client: try makeClient()))
    self.makeClient = makeClient
    self.observer = observer
    self.calls = calls
    self.sendTimeout = sendTimeout
    isPatient = deliveryTimeout > sendTimeout
    isTransactional = properties["transactional.id"] != nil
    replacing = BlockingThread(label: "\(configuration.clientID)-replacement")
  }

  private var client: ProducerClient { state.withLock(\.client) }

  /// The current client's handle.
  var handle: ClientHandle { client.handle }

  private var isOpen: Bool { phase.load(ordering: .sequentiallyConsistent) == .open }
  private var isPurging: Bool { phase.load(ordering: .sequentiallyConsistent) == .purging }

  /// The number of sends whose outcome is not known yet.
  public var inFlight: Int { unfinished.load(ordering: .relaxed) }

  /// Writes one record and returns its position once all in-sync replicas have it.
  ///
  /// If the local queue is full, the call waits until a delivery report makes room. Cancelling the task does not
  /// withdraw the record, which may already be on the wire: the call still waits for the report, at most
  /// ``sendTimeout``. If the client is replaced before it has written the record, the new client sends it again. The
  /// order of concurrent calls may then change.
  /// - Throws: ``KafkaError``; `messageTimedOut` if no acknowledgement came in time. Its `persistence` says whether the
  ///   record may be in Kafka nevertheless.
  public func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    try await send(record, until: ContinuousClock.now + sendTimeout, isLimited: isPatient)
  }

  /// Writes one record like ``send(_:)``, but returns at most 20 ms after the deadline.
  public func send(
    _ record: ProducerRecord, until deadline: ContinuousClock.Instant
  ) async throws(KafkaError) -> RecordPosition {
    guard ContinuousClock.now < deadline else {
      throw KafkaError(
        code: .messageTimedOut, operation: "send to \(record.topic)", reason: "the deadline had passed before the send",
        isRetriable: true, persistence: .notPersisted)
    }
    return try await send(record, until: deadline, isLimited: true)
  }

  /// - Parameter isLimited: Whether librdkafka's own time limit ends after the deadline.
  private func send(
    _ record: ProducerRecord, until deadline: ContinuousClock.Instant, isLimited: Bool
  ) async throws(KafkaError) -> RecordPosition {
    unfinished.add(1, ordering: .sequentiallyConsistent)
    defer { finishOne() }
    // librdkafka's limit starts with each attempt. After a wait, the deadline is earlier than that.
    var isLimited = isLimited
    while true {
      // Before the check, so that a shutdown after it ends the wait below.
      let ticket = room.ticket()
      guard isOpen else {
        throw KafkaError(
          code: .closed, operation: "send to \(record.topic)", reason: "the producer is shut down",
          persistence: .notPersisted)
      }
      let client = client
      switch await client.attempt(record, until: isLimited ? deadline : nil) {
      case .acknowledged(let position): return position
      case .failed(let error):
        let error = judged(error, of: client)
        if error.code == .messageTimedOut { replaceIfStuck(client, for: record.topic) }
        guard error.code == .queueFull || isForNextClient(error, of: client) else { throw error }
        guard await room.wait(ticket, until: deadline) else { throw error }
        isLimited = true
      }
    }
  }

  /// Writes records in order and returns their positions once all in-sync replicas have all of them. Unlike concurrent
  /// calls of ``send(_:)``, it keeps the order of the records. If the client is replaced, the new client sends the
  /// unwritten records again in order, unless a later record was written.
  /// - Throws: ``KafkaError`` of the first record that failed, once the outcome of every accepted record is known.
  public func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition] {
    unfinished.add(1, ordering: .sequentiallyConsistent)
    defer { finishOne() }
    var deadline = ContinuousClock.now + sendTimeout
    var positions: [RecordPosition] = []
    positions.reserveCapacity(records.count)
    while positions.count < records.count {
      let ticket = room.ticket()
      guard isOpen else {
        throw KafkaError(code: .closed, operation: "send \(records.count) records", reason: "the producer is shut down")
      }
      let client = client
      let outcomes = await client.attempt(records[positions.count...])
      let written = positions.count
      var unwritten: KafkaError?
      for outcome in outcomes {
        switch outcome {
        case .acknowledged(let position):
          if let unwritten { throw unwritten }
          positions.append(position)
        case .failed(let error):
          let error = judged(error, of: client)
          if error.code == .messageTimedOut, let record = records.first { replaceIfStuck(client, for: record.topic) }
          guard isForNextClient(error, of: client) else { throw unwritten ?? error }
          unwritten = unwritten ?? error
        }
      }
      if unwritten == nil, positions.count > written {
        deadline = ContinuousClock.now + sendTimeout
      } else if !(await room.wait(ticket, until: deadline)) {
        throw unwritten
          ?? KafkaError(
            code: .queueFull, operation: "send \(records.count) records", reason: "the local queue is full",
            isRetriable: true)
      }
    }
    return positions
  }

  private func finishOne() {
    let left = unfinished.subtract(1, ordering: .sequentiallyConsistent).newValue
    if left == 0, !isOpen { handle.wake.signal() }
  }

  /// Replaces a client whose records of a topic are not acknowledged in time although the cluster is healthy. If a topic
  /// was deleted and created again, some versions of librdkafka keep sending to the leaders of the old one, because its
  /// partitions had higher leader epochs (librdkafka issue 4898).
  private func replaceIfStuck(_ client: ProducerClient, for topic: String) {
    let now = ContinuousClock.now
    let isDue = state.withLock { state in
      guard state.client === client, state.lookedAt.map({ $0.duration(to: now) >= Self.stuckInterval }) ?? true else {
        return false
      }
      state.lookedAt = now
      return true
    }
    guard !isTransactional, isDue else { return }
    client.handle.blocking.schedule { [self] in
      guard isOpen, !client.hasFailed, client.isHealthy(topic, timeout: Self.stuckTimeout) else { return }
      client.abandon(
        KafkaError(
          code: .messageTimedOut, operation: "send to \(topic)",
          reason: "records are not acknowledged although every partition has a leader and all replicas"))
    }
  }

  private static let stuckInterval = Duration.seconds(30)
  private static let stuckTimeout = Duration.seconds(5)

  /// Returns a fatal error of a plain producer's client as retriable, because a new client replaces the failed one.
  private func judged(_ error: KafkaError, of client: ProducerClient) -> KafkaError {
    guard !isTransactional, client.failure != nil else { return error }
    var error = error
    error.isFatal = false
    error.isRetriable = true
    return error
  }

  /// Returns whether a new client can send the record: it is certainly not in Kafka, and the client has failed.
  private func isForNextClient(_ error: KafkaError, of client: ProducerClient) -> Bool {
    !isTransactional && error.persistence == .notPersisted && error.code != .messageTooLarge && client.failure != nil
  }

  /// Fetches the metadata of topics. Without it, the first record of each topic waits up to a second, because
  /// librdkafka looks up new topics once a second.
  /// - Throws: ``KafkaError`` if no broker answered in time. Sending works nevertheless once a broker answers.
  public func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {
    let client = state.withLock { state in
      state.topics.formUnion(topics)
      return state.client
    }
    try await client.handle.blocking.run { () throws(KafkaError) in try client.learn(topics, timeout: timeout) }
  }

  /// Serves delivery reports until ``shutDown()`` was called and every send has its outcome.
  ///
  /// Cancelling the task purges the queue. The purged sends fail with `purged`, or with `inDoubt` if the record was
  /// already on the wire.
  /// - Throws: The fatal error that ended a transactional client.
  public func run() async throws(KafkaError) {
    let serving = Task { await serve() }
    await withTaskCancellationHandler {
      await serving.value
    } onCancel: {
      shutDown()
      phase.store(.purging, ordering: .sequentiallyConsistent)
      // Sends that wait for room see the new phase; records in librdkafka's queues fail through reports.
      state.withLock { state in
        for client in state.retired + [state.client] { client.purge(inFlight: true) }
      }
    }
    if isTransactional, let fatal = handle.fatalError { throw fatal }
  }

  /// Stops accepting records. ``run()`` returns once every accepted record has its outcome.
  public func shutDown() {
    _ = phase.compareExchange(expected: .open, desired: .closing, ordering: .sequentiallyConsistent)
    closing.wakeAll()
    room.wakeAll()
    handle.wake.signal()
  }

  /// Serves the current client, and replaced clients until they have all of their reports.
  private func serve() async {
    await withDiscardingTaskGroup { group in
      var backoff = ReplacementBackoff()
      connect(client)
      while true {
        let client = client
        await client.serve(
          until: {
            client.hasFailed && !isTransactional
              || !isOpen && unfinished.load(ordering: .sequentiallyConsistent) == 0
          },
          onTick: {
            // Again, because a send that had passed its check may still have added a record.
            if self.isPurging { client.purge(inFlight: true) }
            self.calls?.endWaits(at: .now)
          },
          // The producer can send nothing more. The run ends, so that its owner can create a new one.
          onFatal: { if isTransactional { shutDown() } })
        guard client.hasFailed, !isTransactional else {
          // The senders of the remaining records no longer wait.
          if !isTransactional { await client.drain(patience: .zero) }
          return
        }
        state.withLock { $0.retired.append(client) }
        group.addTask {
          await client.drain(patience: self.isPurging ? .zero : Self.drainPatience)
          self.state.withLock { state in state.retired.removeAll { $0 === client } }
        }
        guard await replace(client, &backoff) else { return }
      }
    }
  }

  /// Lets a client connect at once, so that its first record does not wait for that.
  private func connect(_ client: ProducerClient) {
    guard !isTransactional, ProducerClient.losesFirstConnection else { return }
    client.handle.blocking.schedule { [observer] in
      do throws(KafkaError) { try client.learn([], timeout: Self.connectTimeout) } catch { observer.error(error) }
    }
  }

  /// Replaces a failed client. Returns false if the producer was shut down first.
  private func replace(_ failed: ProducerClient, _ backoff: inout ReplacementBackoff) async -> Bool {
    while isOpen {
      let ticket = closing.ticket()
      let now = ContinuousClock.now
      if let due = backoff.next(at: now) { _ = await closing.wait(ticket, until: due) }
      guard isOpen else { return false }
      do throws(KafkaError) {
        let next = try await replacing.run(makeClient)
        let topics = state.withLock { state in
          state.client = next
          return state.topics
        }
        // In the background, so that records do not wait for it.
        next.handle.blocking.schedule { [observer] in
          do throws(KafkaError) { try next.learn(topics, timeout: Self.learnTimeout) } catch { observer.error(error) }
        }
        if let failure = failed.failure { observer.replacement(failure) }
        room.wakeAll()
        return true
      } catch {
        observer.error(error)
      }
    }
    return false
  }

  /// Raises a fatal error, as after a lost sequence. For tests.
  package func failForTest() { client.failForTest() }
}

extension Duration {
  /// The number of whole milliseconds, rounded down; saturates at the maximum of librdkafka's settings.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
    guard !milliseconds.overflow else { return seconds < 0 ? 0 : Int64(Int32.max) }
    return min(Int64(Int32.max), milliseconds.partialValue + attoseconds / 1_000_000_000_000_000)
  }
}
