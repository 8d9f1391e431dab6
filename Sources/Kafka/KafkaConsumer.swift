internal import CRDKafka
internal import Synchronization

/// Reads records, as a member of a group or from named partitions.
///
/// Every assigned partition has a ``PartitionQueue`` of its own, so that one slow partition holds up no other, and
/// memory is bounded by `queued.max.messages.kbytes` a partition. Rebalances arrive as ``events`` and wait for the
/// reader. Follows librdkafka's INTRODUCTION.md, "Consumer groups" and "Queues".
public final class KafkaConsumer: Sendable {
  /// What happens to the assignment, in order. One reader only.
  public var events: ConsumerEvents { ConsumerEvents(feed: feed) }

  let handle: ClientHandle
  private let pump: EventPump
  private let subscription: Subscription
  private let feed = AssignmentFeed()
  private let state = Mutex(State())

  private struct State {
    var queues: [TopicPartition: PartitionQueue] = [:]
    var commits: [ObjectIdentifier: PendingCommit] = [:]
    var isClosing = false
    var isFinished = false
  }

  /// Starts a client; it joins or assigns when ``run()`` does.
  /// - Throws: ``KafkaError`` with code `invalidConfiguration`.
  public init(
    _ configuration: KafkaConfiguration, subscription: Subscription, observer: ClientObserver = ClientObserver()
  ) throws(KafkaError) {
    let group =
      switch subscription {
      case .group(let name, _): name
      // librdkafka has no consumer without a group; without subscribe and commit it is never told to the broker.
      case .partitions: "\(configuration.clientID)-unsubscribed"
      }
    handle = try ClientHandle(
      .consumer, properties: try configuration.consumerProperties(group: group), label: configuration.clientID,
      gate: configuration.gate)
    pump = EventPump(handle: handle, observer: observer)
    self.subscription = subscription
  }

  /// Serves the group and commit results until ``shutDown()`` was called and the group was left, or the task is
  /// cancelled, which leaves the group too.
  /// - Throws: ``KafkaError`` where subscribing was refused, or the fatal error that ended the client.
  public func run() async throws(KafkaError) {
    try await start()
    let serving = Task {
      await pump.run(
        isFinished: { self.finishIfClosed() },
        onTick: { self.tick() },
        onFatal: { self.finish() },
        onEvent: { event in await self.handle(event) })
    }
    await withTaskCancellationHandler {
      await serving.value
    } onCancel: {
      shutDown()
    }
    feed.finish()
    failPendingCommits()
    if let fatal = handle.fatalError { throw fatal }
  }

  /// How long ago ``run()`` served the group last: about a second at most while all is well. Nil where it does not run.
  public var sinceLastTurn: Duration? { pump.turns.age }

  /// Leaves the group: the assignment is revoked through ``events`` first, so that what is in flight can be finished
  /// and committed. ``run()`` returns when that is done.
  public func shutDown() {
    let isFirst = state.withLock { state in
      defer { state.isClosing = true }
      return !state.isClosing
    }
    guard isFirst else { return }
    handle.blocking.schedule { [self] in
      if let error = rd_kafka_consumer_close_queue(handle.rk, handle.queue) {
        // A client with a fatal error closes nothing: it is over as it is.
        self.pump.observer.error(KafkaError(consuming: error, operation: "leave the group"))
        self.finish()
      }
      handle.wake.signal()
    }
  }

  /// Commits offsets and returns when the coordinator has them. Results come while ``run()`` runs.
  /// - Throws: ``KafkaError``; where one partition was refused and others not, its error; `closed` once the group was
  ///   left.
  public func commit(_ offsets: [CommittedOffset]) async throws(KafkaError) {
    guard !offsets.isEmpty else { return }
    let result: Result<Void, KafkaError> = await withUnsafeContinuation { continuation in
      let pending = PendingCommit(continuation)
      let isOpen = state.withLock { state in
        if !state.isFinished { state.commits[ObjectIdentifier(pending)] = pending }
        return !state.isFinished
      }
      guard isOpen else { return pending.finish(.failure(.closedConsumer)) }
      let opaque = Unmanaged.passRetained(pending)
      let list = TopicPartitionList(offsets)
      let error = rd_kafka_commit_queue(handle.rk, list.native, handle.queue, nil, opaque.toOpaque())
      if error != RD_KAFKA_RESP_ERR_NO_ERROR {
        opaque.release()
        forget(pending)
        pending.finish(.failure(KafkaError(error, operation: "commit")))
      }
    }
    try result.get()
  }

  // MARK: - Serving

  private func start() async throws(KafkaError) {
    switch subscription {
    case .group(_, let topics):
      let error: Int32 = await handle.blocking.run { [self] in
        guard !isClosing else { return 0 }
        let list = TopicPartitionList(topics.map { TopicPartition(topic: $0, partition: RD_KAFKA_PARTITION_UA) })
        return rd_kafka_subscribe(handle.rk, list.native).rawValue
      }
      guard error == 0 else {
        throw KafkaError(rd_kafka_resp_err_t(error), operation: "subscribe to \(topics.joined(separator: ", "))")
      }
    case .partitions(let starts):
      let offsets = starts.map { CommittedOffset($0.key, offset: $0.value.native) }.sorted {
        $0.partition < $1.partition
      }
      try await assign(offsets, isFirst: true)
    }
  }

  /// Asked on the thread that closes the client: either it is closed already, and must be given nothing that it would
  /// have to let go of again, or it will be afterwards.
  private var isClosing: Bool { state.withLock { $0.isClosing } }

  private func handle(_ event: OpaquePointer) async {
    switch rd_kafka_event_type(event) {
    case RD_KAFKA_EVENT_REBALANCE: await rebalance(event)
    case RD_KAFKA_EVENT_OFFSET_COMMIT: finishCommit(event)
    default: break
    }
  }

  /// Leaving the group ends with an answer that is no event: it is looked for after every turn.
  private func finishIfClosed() -> Bool {
    let (isClosing, isFinished) = state.withLock { ($0.isClosing, $0.isFinished) }
    if isFinished { return true }
    guard isClosing, rd_kafka_consumer_closed(handle.rk) != 0 else { return false }
    finish()
    return true
  }

  private func finish() {
    let queues = state.withLock { state in
      state.isFinished = true
      defer { state.queues.removeAll() }
      return Array(state.queues.values)
    }
    for queue in queues { queue.close() }
    handle.wake.signal()
  }

  private func tick() {
    for queue in state.withLock({ Array($0.queues.values) }) { queue.tick() }
  }

  private func forget(_ commit: PendingCommit) {
    state.withLock { _ = $0.commits.removeValue(forKey: ObjectIdentifier(commit)) }
  }

  /// Results that arrived with the last turn count; nobody will serve later ones.
  private func failPendingCommits() {
    while let event = rd_kafka_queue_poll(handle.queue, 0) {
      if rd_kafka_event_type(event) == RD_KAFKA_EVENT_OFFSET_COMMIT { finishCommit(event) }
      rd_kafka_event_destroy(event)
    }
    let left = state.withLock { state in
      defer { state.commits = [:] }
      return Array(state.commits.values)
    }
    for commit in left { commit.finish(.failure(.closedConsumer)) }
  }

  private func rebalance(_ event: OpaquePointer) async {
    guard let list = rd_kafka_event_topic_partition_list(event) else { return }
    let offsets = UnsafePointer(list).elements.map { CommittedOffset($0) }
    if rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
      do {
        try await assign(offsets)
      } catch {
        pump.observer.error(error)
      }
    } else {
      revoke(offsets.map(\.partition))
    }
  }

  /// Replaces the assignment: `range` is protected, and its protocol is the eager one.
  ///
  /// - Parameter isFirst: Whether nobody waits for it; a rebalance is to be answered while the client closes, too.
  private func assign(_ offsets: [CommittedOffset], isFirst: Bool = false) async throws(KafkaError) {
    // Before the assignment starts fetching, or the first records would go to the consumer's own queue.
    let queues = offsets.compactMap { PartitionQueue($0.partition, of: handle) }
    state.withLock { state in
      for queue in queues { state.queues[queue.partition] = queue }
    }
    let error: Int32? = await handle.blocking.run { [self] in
      guard !(isFirst && isClosing) else { return nil }
      let list = TopicPartitionList(offsets)
      return rd_kafka_assign(handle.rk, list.native).rawValue
    }
    guard let error else { return }
    guard error == 0 else { throw KafkaError(rd_kafka_resp_err_t(error), operation: "assign partitions") }
    feed.send(.assigned(queues))
  }

  private func revoke(_ partitions: [TopicPartition]) {
    let isLost = rd_kafka_assignment_lost(handle.rk) != 0
    let queues = state.withLock { state in partitions.compactMap { state.queues.removeValue(forKey: $0) } }
    for queue in queues { queue.close() }
    let observer = pump.observer
    let revocation = Revocation(partitions, isLost: isLost) { [handle] in
      handle.blocking.schedule {
        let error = rd_kafka_assign(handle.rk, nil)
        if error != RD_KAFKA_RESP_ERR_NO_ERROR { observer.error(KafkaError(error, operation: "unassign partitions")) }
        handle.wake.signal()
      }
    }
    feed.send(.revoked(revocation))
  }

  private func finishCommit(_ event: OpaquePointer) {
    guard let opaque = rd_kafka_event_opaque(event) else { return }
    let pending = Unmanaged<PendingCommit>.fromOpaque(opaque).takeRetainedValue()
    forget(pending)
    let error = rd_kafka_event_error(event)
    guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
      return pending.finish(.failure(KafkaError(error, operation: "commit")))
    }
    let refused = rd_kafka_event_topic_partition_list(event).flatMap { list in
      UnsafePointer(list).elements.first { $0.err != RD_KAFKA_RESP_ERR_NO_ERROR }
    }
    pending.finish(
      refused.map { .failure(KafkaError($0.err, operation: "commit \(TopicPartition($0))")) } ?? .success(()))
  }
}

extension StartOffset {
  var native: Int64 {
    switch self {
    case .earliest: Int64(RD_KAFKA_OFFSET_BEGINNING)
    case .latest: Int64(RD_KAFKA_OFFSET_END)
    case .offset(let offset): offset
    }
  }
}
