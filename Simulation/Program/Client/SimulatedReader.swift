// librdkafka's consumer in a group: joins, heartbeats, revocations and lost sessions.

internal import KafkaClient
internal import MillraceRecords

final class SimulatedReader: LogReader, @unchecked Sendable {
  private let link: ClientLink
  let group: String
  private let topics: [String]
  private let options: LogReaderOptions
  private let session: Duration
  private static let heartbeatInterval = Duration.seconds(2)

  private let feed = ReaderFeed()
  private let signal = Signal()
  private var identity: MemberIdentity
  private var lastMember: String?
  private var assignment: [TopicPartition: SimulatedPartition] = [:]
  private var lastHeard = Duration.zero
  private var hasRequestedHeartbeat = false
  private var isJoining = false
  private var needsJoin = true
  /// Whether a revocation is not completed.
  private var isRevoking = false
  private var isClosing = false
  private var isFinished = false
  private var failure: KafkaError?

  init(_ link: ClientLink, group: String, topics: [String], options: LogReaderOptions) {
    (self.link, self.group, self.topics, self.options) = (link, group, topics, options)
    session = options.sessionTimeout ?? (options.instance == nil ? .seconds(10) : .seconds(18))
    identity = MemberIdentity(instance: options.instance)
  }

  var events: any AsyncSequence<LogReaderEvent, Never> & Sendable { ReaderEvents(feed: feed) }
  var sessionTimeout: Duration { session }

  // MARK: - The poll loop

  func run() async throws(KafkaError) {
    await withTaskCancellationHandler {
      await serve()
    } onCancel: {
      shutDown()
    }
    finish()
    if let failure { throw failure }
  }

  func shutDown() {
    isClosing = true
    signal.set()
  }

  private func serve() async {
    lastHeard = processTime
    var nextHeartbeat = processTime
    while failure == nil {
      if isClosing, !isRevoking {
        if !assignment.isEmpty {
          revoke(isLost: false)
        } else {
          return await leave()
        }
      }
      if !isClosing, !isRevoking, needsJoin, !isJoining { join() }
      // A member that waits for the answer to its join sends no heartbeats.
      if !isJoining, processTime >= nextHeartbeat {
        heartbeat()
        nextHeartbeat = processTime + Self.heartbeatInterval
      }
      await signal.wait(atMost: max(.milliseconds(1), min(Self.heartbeatInterval, nextHeartbeat - processTime)))
      if processTime >= nextHeartbeat, isJoining { nextHeartbeat = processTime + Self.heartbeatInterval }
    }
  }

  private func finish() {
    isFinished = true
    for partition in assignment.values { partition.close() }
    assignment = [:]
    feed.finish()
  }

  // MARK: - Membership

  private func join() {
    isJoining = true
    needsJoin = false
    let (sent, group, topics, session) = (identity, group, topics, session)
    Task {
      let end: RequestEnd<GroupCoordinator.Joined> = await link.send(
        .joinGroup, to: { $0.coordinator(of: group) }, within: .seconds(305)
      ) { cluster, answer in cluster.group(group).join(sent, topics: topics, session: session, answer) }
      isJoining = false
      lastHeard = processTime
      switch end {
      case .answered(let joined): if !isClosing, !isFinished { assign(joined) }
      case .refused(.fencedInstance): fence()
      case .refused(.unknownMember):
        identity.member = ""
        needsJoin = true
      case .refused, .unanswered, .unavailable, .cancelled:
        await pause(.milliseconds(200))
        needsJoin = true
      }
      signal.set()
    }
  }

  private func assign(_ joined: GroupCoordinator.Joined) {
    needsJoin = false
    identity.member = joined.member
    identity.generation = joined.generation
    lastMember = joined.member
    for partition in joined.assignment {
      assignment[partition] = SimulatedPartition(link, partition, start: .committed(group: group))
    }
    feed.yield(.assigned(joined.assignment.compactMap { assignment[$0] }))
  }

  private func heartbeat() {
    guard !hasRequestedHeartbeat, identity.generation >= 0 || isRevoking, !needsJoin else { return }
    hasRequestedHeartbeat = true
    let (sent, group) = (identity, group)
    Task {
      let end: RequestEnd<Bool> = await link.send(
        .heartbeat, to: { $0.coordinator(of: group) }, within: session
      ) { cluster, answer in
        answer(
          Result { () throws(BrokerError) in
            try cluster.group(group).heartbeat(sent)
            return true
          })
      }
      hasRequestedHeartbeat = false
      heard(end, to: sent)
      signal.set()
    }
  }

  private func heard(_ end: RequestEnd<Bool>, to sent: MemberIdentity) {
    guard !isFinished else { return }
    switch end {
    case .answered: lastHeard = processTime
    case .refused(.fencedInstance): fence()
    // The answer is about an identity that the member no longer has.
    case .refused where sent != identity: break
    case .refused(.rebalanceInProgress):
      lastHeard = processTime
      if assignment.isEmpty, !isRevoking { needsJoin = true } else { revoke(isLost: false) }
    case .refused(.unknownMember): lose()
    case .refused:
      identity.generation = -1
      revoke(isLost: true)
    case .unanswered, .unavailable, .cancelled:
      if processTime - lastHeard > session { lose() }
    }
  }

  /// The session has ended. librdkafka forgets its member id, and asks for a new one once the revocation is completed.
  private func lose() {
    identity.member = ""
    identity.generation = -1
    revoke(isLost: true)
  }

  private func fence() {
    failure = BrokerError.fencedInstance.error("serve the group \(group)", isFatal: true)
    signal.set()
  }

  private func revoke(isLost: Bool) {
    guard !isRevoking else { return }
    let revoked = assignment
    assignment = [:]
    for partition in revoked.values { partition.close() }
    guard !revoked.isEmpty else {
      needsJoin = !isJoining
      return
    }
    isRevoking = true
    feed.yield(
      .revoked(
        PartitionRevocation(revoked.keys.sorted(), isLost: isLost) { [weak self] in
          guard let self else { return }
          isRevoking = false
          needsJoin = true
          signal.set()
        }))
  }

  private func leave() async {
    guard !identity.member.isEmpty, options.instance == nil || options.leavesOnShutDown else { return }
    let (sent, group) = (identity, group)
    let _: RequestEnd<Bool> = await link.send(.leaveGroup, to: { $0.coordinator(of: group) }, within: .seconds(5)) {
      cluster, answer in
      cluster.group(group).leave(sent)
      answer(.success(true))
    }
  }

  // MARK: - Offsets

  func commit(_ offsets: [CommittedOffset]) async throws(KafkaError) {
    guard !offsets.isEmpty else { return }
    let operation = "commit offsets of \(group)"
    guard !isFinished else { throw KafkaError(code: .closed, operation: operation, reason: "the client is shut down") }
    let (sent, group) = (identity, group)
    let offsets = offsets.map(\.admitted)
    var attempts = 0
    while true {
      attempts += 1
      let end: RequestEnd<Bool> = await link.send(
        .commitOffsets, to: { $0.coordinator(of: group) }, within: .seconds(10)
      ) { cluster, answer in
        answer(
          Result { () throws(BrokerError) in
            try cluster.group(group).commit(offsets, by: sent)
            return true
          })
      }
      if case .unanswered = end, attempts < 3 { continue }
      _ = try end.get(operation)
      return
    }
  }

  func committed(
    _ partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [CommittedOffset] {
    let group = group
    let end: RequestEnd<[CommittedOffset]> = await link.persist(
      .fetchOffsets, to: { $0.coordinator(of: group) }, within: timeout, retrying: [.unstableOffsetCommit]
    ) { cluster, answer in
      answer(Result { () throws(BrokerError) in try cluster.group(group).offsets(of: partitions) })
    }
    return try end.get("read committed offsets of \(group)")
  }

  func groupMetadata() async throws(KafkaError) -> GroupMetadata {
    let fields = [String(identity.generation), identity.member, identity.instance ?? "", group]
    return GroupMetadata(bytes: Array(fields.joined(separator: "\n").utf8))
  }

  static func membership(of metadata: GroupMetadata) -> (group: String, identity: MemberIdentity) {
    let fields = String(decoding: metadata.bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard fields.count == 4, let generation = Int(fields[0]) else { return ("", MemberIdentity()) }
    let instance = fields[2].isEmpty ? nil : String(fields[2])
    return (
      String(fields[3]), MemberIdentity(member: String(fields[1]), generation: generation, instance: instance)
    )
  }

  func instanceHolder(timeout: Duration) async throws(KafkaError) -> InstanceHolder {
    guard let instance = options.instance else { return .thisReader }
    let group = group
    let end: RequestEnd<[KafkaClient.GroupMember]> = await link.persist(
      .describeGroup, to: { $0.coordinator(of: group) }, within: timeout
    ) { cluster, answer in answer(.success(cluster.group(group).memberList)) }
    let members = try end.get("describe the group \(group)")
    return InstanceHolder(of: instance, among: members, askedBy: Set([lastMember].compactMap { $0 }))
  }
}

extension CommittedOffset {
  /// The offset as the client sends it: without metadata that is longer than brokers allow.
  var admitted: CommittedOffset {
    metadata.utf8.count > Self.maximumMetadataBytes ? CommittedOffset(partition, offset: offset) : self
  }
}
