internal import CRDKafka
internal import Synchronization

/// Reads records as a member of a group or from fixed partitions.
///
/// Every assigned partition has its own ``PartitionQueue``, so that a slow partition does not delay others. Each queue
/// holds at most `queued.max.messages.kbytes`. Rebalances arrive as ``events`` and wait for the reader. See
/// librdkafka's INTRODUCTION.md, "Consumer groups" and "Queues".
public final class KafkaConsumer: Sendable {
  /// The changes of the assignment, in order, for one reader.
  public var events: ConsumerEvents { ConsumerEvents(feed: feed) }

  let handle: ClientHandle
  private let pump: PollLoop
  private let subscription: Subscription
  /// The group that the consumer joins; nil if it has none.
  var group: String? { if case .group(let name, _) = subscription { name } else { nil } }
  private let isStatic: Bool
  private let staticMemberLeaves: Bool
  private let feed = AssignmentFeed()
  private let state = Mutex(State())

  private struct State {
    var queues: [TopicPartition: PartitionQueue] = [:]
    var commits: [ObjectIdentifier: PendingCommit] = [:]
    var isClosing = false
    /// Whether the reader of a closing client has handed over its partitions.
    var isHandedOver = false
    var isFinished = false
    var memberIDs: Set<String> = []
    /// The number of revocations that are not completed.
    var openRevocations = 0
    /// Whether the consumer has ever owned a partition.
    var hasPartitions = false
    /// Set once a static member starts to leave.
    var departure: StaticDeparture?
  }

  /// Creates a client. ``run()`` joins the group or assigns the partitions.
  /// - Parameter staticMemberLeaves: Whether a static member (`group.instance.id`) leaves the group when it shuts down.
  ///   Otherwise the group reserves its partitions for the rest of the session. A dynamic member always leaves.
  /// - Throws: ``KafkaError`` with code `invalidConfiguration`.
  public convenience init(
    _ configuration: KafkaConfiguration, subscription: Subscription, staticMemberLeaves: Bool = false,
    observer: ClientObserver = ClientObserver()
  ) throws(KafkaError) {
    try self.init(
      configuration, subscription, isolation: nil, staticMemberLeaves: staticMemberLeaves, observer: observer)
  }

  /// Creates a client that also reads records of open and aborted transactions, to find out what blocks other readers.
  package convenience init(
    readingUncommitted configuration: KafkaConfiguration, from starts: [TopicPartition: StartOffset]
  ) throws(KafkaError) {
    try self.init(
      configuration, .partitions(starts), isolation: "read_uncommitted", staticMemberLeaves: false,
      observer: ClientObserver())
  }

  private init(
    _ configuration: KafkaConfiguration, _ subscription: Subscription, isolation: String?, staticMemberLeaves: Bool,
    observer: ClientObserver
  ) throws(KafkaError) {
    let group =
      switch subscription {
      case .group(let name, _): name
      // librdkafka requires a group. Without subscribe and commit, the broker never learns of it.
      case .partitions: "\(configuration.clientID)-unsubscribed"
      }
    var properties = try configuration.consumerProperties(group: group)
    if let isolation { properties["isolation.level"] = isolation }
    handle = try ClientHandle(
      .consumer, properties: properties, label: configuration.clientID, gate: configuration.gate,
      tokens: configuration.tokens)
    let joined: String? = if case .group(let name, _) = subscription { name } else { nil }
    pump = PollLoop(handle: handle, observer: observer.naming(group: joined))
    self.subscription = subscription
    isStatic = configuration.properties["group.instance.id"].map { !$0.isEmpty } ?? false
    self.staticMemberLeaves = staticMemberLeaves && isStatic
  }

  /// Serves the group and commit results until ``shutDown()`` was called and the consumer has left the group.
  /// Cancelling the task also leaves the group.
  /// - Throws: ``KafkaError`` if subscribing failed, or the fatal error that ended the client.
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

  /// Returns the member ids that the group has given to this client, also if the client is closed. The group lists a new
  /// id before its assignment arrives, and an old one after librdkafka has dropped it, for example with its session.
  public func memberIDs() async -> Set<String> {
    // Not while librdkafka closes the client: it may drop the question without an answer.
    await handle.blocking.run { if !self.isClosing { self.noteMemberID() } }
    return state.withLock(\.memberIDs)
  }

  /// The time since ``run()`` last served the group, normally at most about a second; nil if it does not run.
  public var sinceLastTurn: Duration? { pump.turns.age }

  /// Shuts the client down. It first revokes the assignment through ``events``, so that the reader can finish and
  /// commit the records in flight, also if that takes longer than the session. Then it leaves the group, unless it is a
  /// static member that keeps its partitions. ``run()`` returns once that is done.
  public func shutDown() {
    let isFirst = state.withLock { state in
      defer { state.isClosing = true }
      return !state.isClosing
    }
    guard isFirst else { return }
    handOver { [weak self] in
      guard let self else { return }
      if staticMemberLeaves { leave { self.close() } } else { close() }
    }
  }

  /// Revokes the assignment, and calls `next` once the reader has handed it over, and what was revoked before.
  ///
  /// librdkafka sends no heartbeats while it closes a client. A reader that then took longer than the session would lose
  /// its partitions and could commit nothing. So it hands them over before, as a member of the group.
  private func handOver(then next: @escaping @Sendable () -> Void) {
    guard case .group = subscription else { return next() }
    let (queues, isHandingOver) = state.withLock { state in
      defer { state.queues = [:] }
      return (state.queues, state.openRevocations > 0)
    }
    // The reader handles revocations in order, so one without partitions waits for the others.
    guard !queues.isEmpty || isHandingOver else { return next() }
    for queue in queues.values { queue.close() }
    feed.send(
      .revoked(
        PartitionRevocation(queues.keys.sorted(), isLost: false) { [weak self] in
          self?.state.withLock { $0.isHandedOver = true }
          next()
        }))
  }

  private func close() {
    handle.blocking.schedule { [self] in
      noteMemberID()
      if let error = rd_kafka_consumer_close_queue(handle.rk, handle.queue) {
        // A client with a fatal error cannot close and needs no closing.
        self.pump.observer.error(KafkaError(consuming: error, operation: "leave the group"))
        self.finish()
      }
      handle.wake.signal()
    }
  }

  /// Makes a static member leave its group; `next` then runs on the blocking thread.
  private func leave(then next: @escaping @Sendable () -> Void) {
    handle.blocking.schedule { [self] in
      state.withLock { $0.departure = StaticDeparture(now: .now, openRevocations: $0.openRevocations) }
      let error = rd_kafka_unsubscribe(handle.rk)
      if error != RD_KAFKA_RESP_ERR_NO_ERROR { pump.observer.error(KafkaError(error, operation: "unsubscribe")) }
      handle.wake.signal()
      waitUntilOut(then: next)
    }
  }

  /// Polls until the client has left the group, because librdkafka has no event for it. Runs on the blocking thread.
  private func waitUntilOut(then next: @escaping @Sendable () -> Void) {
    let isMember = presentMemberID != nil
    let isOver = state.withLock { state in
      state.isFinished || state.departure?.isOver(isMember: isMember, now: .now) ?? true
    }
    if isOver { return next() }
    handle.blocking.schedule(after: .milliseconds(20)) { [self] in waitUntilOut(then: next) }
  }

  /// Leaves and joins the group again, once, if the assignment of a static member lacks one of its topics.
  ///
  /// A static member that returns gets its old assignment without a rebalance, even if it now subscribes to another
  /// topic: brokers do not compare the topics. Without a new join it would never own partitions of the new topic.
  private func joinAnewIfTopicsAreMissing(from partitions: [TopicPartition]) {
    guard isStatic, case .group(_, let topics) = subscription, !partitions.isEmpty else { return }
    let isFirst = state.withLock { state in
      defer { state.hasPartitions = true }
      return !state.hasPartitions
    }
    let missing = Set(topics).subtracting(partitions.map(\.topic))
    guard isFirst, !missing.isEmpty else { return }
    pump.observer.log(
      .init(
        level: 5, facility: "REJOIN",
        message: "the group returned an assignment without \(missing.sorted().joined(separator: ", ")); joining again"))
    leave { [self] in
      guard !isClosing else { return }
      let error = subscribe(to: topics)
      if error != 0 { pump.observer.error(KafkaError(rd_kafka_resp_err_t(error), operation: "subscribe again")) }
    }
  }

  private func subscribe(to topics: [String]) -> Int32 {
    let list = TopicPartitionList(topics.map { TopicPartition(topic: $0, partition: RD_KAFKA_PARTITION_UA) })
    return rd_kafka_subscribe(handle.rk, list.native).rawValue
  }

  /// Commits offsets and returns once the coordinator has stored them. Needs a running ``run()``.
  /// - Throws: ``KafkaError``; if only some partitions were refused, the error of the first; `closed` once the consumer
  ///   has left the group.
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
        return subscribe(to: topics)
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

  /// Whether the client is closing. Checked on the thread that closes it, so that a closed client never gets
  /// partitions.
  private var isClosing: Bool { state.withLock { $0.isClosing } }

  private func handle(_ event: OpaquePointer) async {
    switch rd_kafka_event_type(event) {
    case RD_KAFKA_EVENT_REBALANCE: await rebalance(event)
    case RD_KAFKA_EVENT_OFFSET_COMMIT: finishCommit(event)
    default: break
    }
  }

  /// Returns whether the client has left the group. No event reports it, so the poll loop checks after every iteration.
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

  /// Serves the results that have arrived and fails the other commits: the poll loop has ended.
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

  /// Replaces the assignment. The assignor is always `range`, which uses the eager protocol.
  ///
  /// - Parameter isFirst: Whether this is the initial assignment of fixed partitions, which a closing client skips. A
  ///   rebalance must be answered even while the client closes.
  private func assign(_ offsets: [CommittedOffset], isFirst: Bool = false) async throws(KafkaError) {
    // Create the queues before fetching starts, or the first records would go to the consumer's own queue.
    let queues = offsets.compactMap { PartitionQueue($0.partition, of: handle) }
    state.withLock { state in
      for queue in queues { state.queues[queue.partition] = queue }
    }
    let error: Int32? = await handle.blocking.run { [self] in
      guard !(isFirst && isClosing) else { return nil }
      noteMemberID()
      let list = TopicPartitionList(offsets)
      return rd_kafka_assign(handle.rk, list.native).rawValue
    }
    guard let error else { return }
    guard error == 0 else { throw KafkaError(rd_kafka_resp_err_t(error), operation: "assign partitions") }
    feed.send(.assigned(queues))
    joinAnewIfTopicsAreMissing(from: queues.map(\.partition))
  }

  /// Notes the present member id. Runs on the blocking thread.
  private func noteMemberID() {
    if let id = presentMemberID { state.withLock { _ = $0.memberIDs.insert(id) } }
  }

  /// The member id that the client has now; nil if it is no member. Read on the blocking thread.
  private var presentMemberID: String? {
    guard let native = rd_kafka_memberid(handle.rk) else { return nil }
    defer { rd_kafka_mem_free(handle.rk, native) }
    return native.pointee == 0 ? nil : String(cString: native)
  }

  private func revoke(_ partitions: [TopicPartition]) {
    let isLost = rd_kafka_assignment_lost(handle.rk) != 0
    let (queues, isHandedOver) = state.withLock { state in
      state.openRevocations += 1
      state.departure?.revoked()
      return (partitions.compactMap { state.queues.removeValue(forKey: $0) }, state.isHandedOver)
    }
    for queue in queues { queue.close() }
    let observer = pump.observer
    // Weak, because the feed retains a revocation until it is read.
    let revocation = PartitionRevocation(partitions, isLost: isLost) { [handle, weak self] in
      handle.blocking.schedule { [weak self] in
        let error = rd_kafka_assign(handle.rk, nil)
        if error != RD_KAFKA_RESP_ERR_NO_ERROR { observer.error(KafkaError(error, operation: "unassign partitions")) }
        self?.handedOver()
        handle.wake.signal()
      }
    }
    if isHandedOver, queues.isEmpty { revocation.complete() } else { feed.send(.revoked(revocation)) }
  }

  private func handedOver() {
    state.withLock { state in
      state.openRevocations -= 1
      state.departure?.handedOver(now: .now)
    }
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
