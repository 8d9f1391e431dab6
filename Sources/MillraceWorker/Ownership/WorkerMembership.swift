// One membership of a worker in its consumer group, from joining to leaving: a reader, a writer, a committer, and the
// assigned lanes. A worker that has lost its transactional producer, or was fenced, creates all of them again.
//
// The order matters. The first assignment proves that this process is a member of the group. Only then does its
// producer take over the transactional id, which fences the previous producer, and only then do lanes start. A process
// that was replaced while it was suspended therefore notices that before it can disturb its successor.

internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import ServiceLifecycle
internal import Synchronization
internal import MillraceCore
internal import MillraceRecords

struct WorkerMembership: Sendable {
  let parts: WorkerRuntime.Parts
  let lanes: Int
  let notices: LivenessNotices
  let limits: TimeLimits
  let failures: FailureLog
  let state: WorkerState
  let ending: WorkerEnding
  /// The loss that ended the last membership; nil for the first one of the process.
  let lastLoss: ProducerLoss?
  /// Opens when the group has sent an assignment.
  private let joined = Latch()
  /// Opens when the writer can write.
  private let ready = Latch()

  init(
    _ parts: WorkerRuntime.Parts, lanes: Int, notices: LivenessNotices, limits: TimeLimits, failures: FailureLog,
    state: WorkerState, ending: WorkerEnding, after loss: ProducerLoss?
  ) {
    self.parts = parts
    self.lanes = lanes
    self.notices = notices
    self.limits = limits
    self.failures = failures
    self.state = state
    self.ending = ending
    lastLoss = loss
  }

  /// Waits until it is clear that no other process has taken the name since the former membership. Only that one's reader
  /// knows the member ids that it had. The caller releases it afterwards, and with it the connections of its client.
  /// - Returns: False if the worker is to end.
  /// - Throws: ``MillraceError`` if another living process has the name.
  func mayFollow(_ former: WorkerEnding.Former) async throws -> Bool {
    if let reader = former.reader { try await confirmName(reader) }
    if ending.cause != nil || Task.isShuttingDownGracefully { return false }
    parts.metrics.rejoined(former.loss.reason)
    return true
  }

  /// Runs until the worker has left its group.
  /// - Returns: Whether a transaction was committed.
  func run() async throws -> Bool {
    let reader = try parts.log.makeReader(
      group: parts.topics.group, topics: parts.topics.sources, options: readerOptions)
    let writer = try makeWriter()
    let committer = Committer(
      calls: CommitCalls(writer: writer, reader: reader, clock: parts.clock) { try await checkName(reader) },
      clock: parts.clock,
      count: parts.policy.commitCount,
      interval: parts.policy.commitInterval, metrics: parts.metrics, logger: parts.logger)
    let commands = CommandConsumer(
      worker: parts.name, topic: parts.topics.operations, log: parts.log, metrics: parts.metrics,
      logger: parts.logger)
    // A transactional writer writes in transactions only.
    let plainWriter = parts.commit == .transactional ? try parts.log.makeWriter() : writer.client
    let starter = LaneStarter(
      reader: reader, parts: laneParts(commands, committer), notices: notices, writer: plainWriter,
      instance: parts.instance, writerIsReady: ready)
    // The supervisor keeps the ledgers of lanes that have left. A later membership does not reuse them.
    let supervisor = LaneSupervisor(
      starter: starter, lanes: lanes, budget: parts.budget, state: state, fail: { ending.failed($0) })
    ending.attach(reader)
    state.supervisor.withLock { $0 = supervisor }
    state.reader.withLock { $0 = reader }
    defer {
      state.supervisor.withLock { $0 = nil }
      state.reader.withLock { $0 = nil }
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await serve(writer, committer) }
      if parts.commit == .transactional {
        group.addTask { await ending.onFailure { try await plainWriter.run() } }
      }
      await withTaskGroup(of: Void.self) { followers in
        followers.addTask {
          await ending.onFailure { try await parts.readRetry.run("cannot read the commands", commands.follow) }
        }
        followers.addTask { await ending.onFailure(of: supervisor.watchLag) }
        followers.addTask { await prepare(writer.client) }
        if parts.commit == .transactional { followers.addTask { await prepare(plainWriter) } }
        followers.addTask { await ending.onFailure { try await takeOver(writer) } }
        await serve(reader, committer, supervisor)
        followers.cancelAll()
      }
      plainWriter.shutDown()
      writer.client.shutDown()
    }
    return committer.hasCommittedTransaction
  }

  private func laneParts(_ commands: CommandConsumer, _ committer: Committer) -> LaneParts {
    LaneParts(
      log: parts.log, commands: commands, policy: parts.policy,
      isTransactional: parts.commit == .transactional, topics: parts.topics,
      planner: OutcomePlanner(
        records: OutcomeRecords(topics: parts.topics, prefix: parts.prefix), schedule: parts.policy.schedule),
      handler: parts.handler, deadline: parts.deadline, erasure: parts.erasure,
      committer: committer, limits: limits,
      clock: parts.clock, metrics: parts.metrics, failures: failures, dryRun: parts.dryRun, logger: parts.logger)
  }

  private var readerOptions: LogReaderOptions {
    LogReaderOptions(instance: parts.staticMember, leavesOnShutDown: parts.onStop == .leave)
  }

  // MARK: - The writer

  private func makeWriter() throws -> WorkerWriter {
    switch parts.commit {
    case .transactional:
      .transactional(
        try ReplaceableProducer { [parts] () throws(KafkaError) in
          try parts.log.makeTransactionalWriter(
            id: parts.transactionalID, timeout: WorkerWriter.transactionTimeout)
        })
    case .atLeastOnce: .plain(try parts.log.makeWriter())
    }
  }

  /// Runs the writer's clients until it is shut down. The committer replaces a transactional client that has failed.
  private func serve(_ writer: WorkerWriter, _ committer: Committer) async {
    do {
      try await writer.client.run()
    } catch {
      committer.abandon()
      guard !ending.isOver else { return }
      ending.failed(error)
    }
  }

  /// Looks up the output topics' metadata. Otherwise the first delayed record would wait for it and be a second late.
  private func prepare(_ client: any LogWriter) async {
    let topics = parts.topics
    do {
      try await client.prepare(
        topics.retries + [topics.replay, topics.deadLetters, topics.ledger, topics.events], timeout: .seconds(10))
    } catch {
      guard !Task.isCancelled else { return }
      parts.logger.warning("could not look up the output topics in advance", metadata: ["error": "\(error)"])
    }
  }

  /// Fences the previous producer with the transactional id, after this process has joined the group.
  private func takeOver(_ writer: WorkerWriter) async throws {
    try await joined.wait()
    #if PLANTED_FAULTS
      if PlantedFault.lanesBeforeTakeOver.isActive { ready.open() }
    #endif
    do {
      try await writer.initialize(writer.client)
    } catch {
      try Task.checkCancellation()
      // An error in a process that has never written needs an operator.
      if case .transactional = writer, let error = error as? KafkaError, let loss = ProducerLoss(error),
        lastLoss != nil || loss.reason == .fenced
      {
        throw loss
      }
      throw error
    }
    ready.open()
  }

  // MARK: - The group

  /// Starts and stops lanes until the worker has left its group. If anything fails meanwhile, the worker leaves.
  private func serve(_ reader: any LogReader, _ committer: Committer, _ supervisor: LaneSupervisor) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await ending.onFailure {
          do { try await committer.run() } catch let loss as ProducerLoss { try await report(loss, reader) }
        }
      }
      group.addTask {
        // The poll loop ends when the worker has left the group, after it has handed over all lanes.
        await withGracefulShutdownHandler {
          await ending.onFailure { try await serve(reader, committer) }
        } onGracefulShutdown: {
          reader.shutDown()
        }
      }
      for await event in reader.events {
        switch event {
        case .assigned(let partitions):
          state.joined()
          joined.open()
          await supervisor.assigned(partitions)
        case .revoked(let revocation):
          await supervisor.revoked(revocation)
          // After completion the client rejoins, and a static member would take its name from the process that has it.
          if revocation.isLost { await ending.onFailure { try await confirmName(reader) } }
          revocation.complete()
        }
      }
      await supervisor.close()
      committer.shutDown()
    }
  }

  private func serve(_ reader: any LogReader, _ committer: Committer) async throws {
    do {
      try await reader.run()
    } catch {
      #if PLANTED_FAULTS
        if PlantedFault.fencedMeansTaken.isActive {
          throw MillraceError.nameTaken(parts.staticMember ?? "", group: parts.topics.group)
        }
      #endif
      guard error.code == .fencedInstance, let loss = ProducerLoss(error) else { throw error }
      // The group refuses the offsets of a fenced member.
      committer.abandon()
      throw loss
    }
  }

  /// Throws the loss, unless another process with this one's name is its cause.
  private func report(_ loss: ProducerLoss, _ reader: any LogReader) async throws {
    try await confirmName(reader)
    throw loss
  }

  /// Waits until the group coordinator has confirmed that no other process is the static member of this name. The
  /// worker has to ask, because librdkafka does not report when a heartbeat was answered. It asks until it gets an
  /// answer, the process shuts down, or something else ends the process.
  /// - Throws: ``MillraceError`` if another living process has the name.
  private func confirmName(_ reader: any LogReader) async throws {
    #if PLANTED_FAULTS
      if PlantedFault.noNameInquiry.isActive { return }
    #endif
    guard let name = parts.staticMember, parts.log.description.capabilities.contains(.staticMembership) else { return }
    var inquiry = NameInquiry(session: reader.sessionTimeout)
    defer { state.confirmName(isWaiting: false) }
    while !Task.isShuttingDownGracefully, ending.cause == nil {
      switch await ask(reader, &inquiry) {
      case .join: return
      case .taken(let host): throw MillraceError.nameTaken(name, group: parts.topics.group, by: host)
      case .ask(let pause):
        state.confirmName(isWaiting: true)
        let due = parts.clock.now.advanced(by: pause)
        do {
          try await cancelWhenGracefulShutdown { [clock = parts.clock] in try await clock.sleep(until: due) }
        } catch is CancellationError where Task.isShuttingDownGracefully {
          return
        }
      }
    }
  }

  private func ask(_ reader: any LogReader, _ inquiry: inout NameInquiry) async -> NameInquiry.Next {
    do {
      let holder = try await reader.instanceHolder(timeout: Self.questionTimeout)
      let isNews = !inquiry.hasOther
      let next = inquiry.answered(holder, now: parts.clock.now)
      if isNews, inquiry.hasOther {
        parts.logger.warning(
          "the group has another process under this one's name; asking again until it is clear that it lives",
          metadata: ["member": "\(holder)"])
      }
      return next
    } catch {
      // No error says that another process lives.
      parts.logger.warning(
        "cannot check yet whether another process has this one's name; retrying", metadata: ["error": "\(error)"])
      return inquiry.failed()
    }
  }

  /// Asks the group coordinator once whether another process is the static member of this name.
  /// - Throws: ``ProducerLoss`` if it is; `KafkaError` if the coordinator did not answer.
  private func checkName(_ reader: any LogReader) async throws {
    guard parts.staticMember != nil, parts.log.description.capabilities.contains(.staticMembership),
      case .another(_, let host) = try await reader.instanceHolder(timeout: Self.questionTimeout)
    else { return }
    #if PLANTED_FAULTS
      if PlantedFault.noNameCheck.isActive { return }
    #endif
    let error = KafkaError(
      code: .fencedInstance, operation: "check the name of the process",
      reason: "the group has another member with it, at \(host)", isFatal: true)
    throw ProducerLoss(error) ?? error
  }

  private static let questionTimeout = Duration.seconds(10)
}

extension MillraceError {
  /// The error of a process whose static member name another process has taken. This process ends.
  static func nameTaken(_ name: String, group: String, by host: String? = nil) -> MillraceError {
    MillraceError(
      .membership, "another process\(host.map { " at \($0)" } ?? "") has the name \(name) in the group",
      at: group,
      remedy: """
        if it replaced this process, there is nothing to do; otherwise give each process a name of its own \
        (`kafka.instance`, in Kubernetes the pod's name)
        """)
  }
}
