// The log's state of each reader, and how the group's decisions reach the reader.

internal import KafkaClient
internal import MillraceRecords

/// The state of a group member's client.
struct ReaderState: Sendable {
  enum Event: Sendable {
    case assigned([TopicPartition], assignment: UInt64)
    case revoked([TopicPartition], membership: Membership?)
  }

  var group: String
  var topics: Set<String>
  var options: LogReaderOptions
  var process: ProcessID
  /// The reader's membership in the group; nil before it has joined and after it was removed.
  var membership: Membership?
  /// The member id with which it last received an assignment.
  var lastMember: String?
  /// The next offset of each assigned partition; nil means the committed offset, once that is stable.
  var positions: [TopicPartition: Int64?] = [:]
  /// Distinguishes the reader's assignments.
  var assignment: UInt64 = 0
  var events: [Event] = []
  /// Whether a revocation was announced, or is about to be, and is not completed.
  var isHandingOver = false
  /// Whether the loop over the reader's events has ended. Then revocations complete at once.
  var hasNoLoop = false
  /// Whether a revocation was completed while the process was paused.
  var hasCompletedWhilePaused = false
  var isRunning = false
  var isClosing = false
  var isFinished = false
  /// The error that ended the reader.
  var failure: KafkaError?
}

extension InMemoryBroker {
  /// Changes a group and sends its decisions to the readers.
  mutating func changeGroup(_ name: String, now: Duration, _ body: (inout GroupState, [String: Int]) -> Void) {
    var group = groups[name] ?? GroupState(rebalanceTimeout: limits.rebalanceTimeout)
    body(&group, counts)
    let (outbox, expelled, replaced) = (group.outbox, group.expelled, group.replaced)
    group.outbox = []
    group.expelled = []
    group.replaced = []
    groups[name] = group
    areDeadlinesStale = true
    changes.insert(.group(name))
    for member in expelled { lose(member, in: name, now: now) }
    for member in replaced { replace(member, in: name, now: now) }
    for (member, event) in outbox { deliver(member, in: name, event, generation: group.generation, now: now) }
  }

  private func reader(_ member: String, in group: String) -> ReaderID? {
    readers.first { $0.value.group == group && $0.value.membership?.member == member }?.key
  }

  private mutating func deliver(
    _ member: String, in group: String, _ event: MemberEvent, generation: Int32, now: Duration
  ) {
    guard let id = reader(member, in: group) else { return }
    changes.insert(.reader(id))
    switch event {
    case .assigned(let partitions):
      let assignment = nextSerial()
      readers[id]?.assignment = assignment
      readers[id]?.membership?.generation = generation
      readers[id]?.lastMember = member
      readers[id]?.positions = Dictionary(partitions.map { ($0, nil) }) { first, _ in first }
      readers[id]?.events.append(.assigned(partitions, assignment: assignment))
    case .revoked: revoke(id, now: now)
    }
  }

  /// Revokes a reader's partitions. The event waits until the reader reads it.
  private mutating func revoke(_ id: ReaderID, now: Duration) {
    guard let reader = readers[id], !reader.isHandingOver else { return }
    let partitions = reader.positions.keys.sorted()
    readers[id]?.positions = [:]
    readers[id]?.isHandingOver = true
    readers[id]?.events.append(.revoked(partitions, membership: reader.membership))
    changes.formUnion(partitions.map { .partition($0) })
    changes.insert(.reader(id))
    if reader.hasNoLoop { abandonEvents(of: id, now: now) }
  }

  /// The reader's events are no longer read, so revocations complete at once.
  mutating func abandonEvents(of id: ReaderID, now: Duration) {
    readers[id]?.events = []
    readers[id]?.hasNoLoop = true
    completeRevocation(id, now: now)
  }

  /// The group has removed the reader's member.
  private mutating func lose(_ member: String, in group: String, now: Duration) {
    guard let id = reader(member, in: group) else { return }
    let hadPartitions = readers[id]?.positions.isEmpty == false
    readers[id]?.membership?.generation = -1
    if hadPartitions { revoke(id, now: now) }
    readers[id]?.membership = nil
    changes.insert(.reader(id))
  }

  /// Another client has replaced the reader's static member.
  private mutating func replace(_ member: String, in group: String, now: Duration) {
    guard let id = reader(member, in: group) else { return }
    readers[id]?.failure = .fencedInstance("serve the group \(group)")
    readers[id]?.isClosing = true
    lose(member, in: group, now: now)
    if readers[id]?.isHandingOver == false { leave(id, now: now) }
  }

  /// The group refuses the members of a process in favour of their own former members, which stay for their session.
  mutating func fence(_ process: ProcessID, now: Duration) {
    silence(process, now: now)
    for (id, reader) in readersOf(process) where reader.options.instance != nil {
      if let member = reader.membership?.member { replace(member, in: reader.group, now: now) }
      readers[id]?.membership = nil
    }
  }

  // MARK: - Requests

  mutating func join(_ id: ReaderID, now: Duration) {
    guard let reader = readers[id], reader.membership == nil, !reader.isClosing, !reader.isFinished else { return }
    readers[id]?.isRunning = true
    // The reader joins when its process resumes.
    if processes[reader.process]?.isPaused == true { return }
    // Member ids are in the order of arrival, so that runs are reproducible.
    let number = String(nextSerial())
    let member = "\(reader.process.name)-\(String(repeating: "0", count: max(0, 8 - number.count)))\(number)"
    readers[id]?.membership = Membership(group: reader.group, generation: -1, member: member)
    changeGroup(reader.group, now: now) { group, counts in
      group.join(
        member, topics: reader.topics, instance: reader.options.instance, counts: counts, now: now)
    }
  }

  /// The reader has handed over the revoked partitions.
  mutating func completeRevocation(_ id: ReaderID, now: Duration) {
    guard let reader = readers[id], reader.isHandingOver else { return }
    if processes[reader.process]?.isPaused == true {
      // A paused process completes nothing. The completion counts when the process resumes.
      readers[id]?.hasCompletedWhilePaused = true
      return
    }
    readers[id]?.isHandingOver = false
    readers[id]?.hasCompletedWhilePaused = false
    if reader.isClosing { return leave(id, now: now) }
    guard let membership = reader.membership else { return join(id, now: now) }
    changeGroup(reader.group, now: now) { group, counts in
      _ = group.rejoin(membership.member, counts: counts, now: now)
    }
  }

  mutating func shutDown(_ id: ReaderID, now: Duration) {
    guard let reader = readers[id], !reader.isClosing else { return }
    readers[id]?.isClosing = true
    if reader.isHandingOver { return }
    if reader.positions.isEmpty { leave(id, now: now) } else { revoke(id, now: now) }
  }

  private mutating func leave(_ id: ReaderID, now: Duration) {
    guard let reader = readers[id], !reader.isFinished else { return }
    readers[id]?.isFinished = true
    changes.insert(.reader(id))
    guard let membership = reader.membership else { return }
    readers[id]?.membership = nil
    let expiry = now + (reader.options.sessionTimeout ?? limits.sessionTimeout)
    changeGroup(reader.group, now: now) { group, counts in
      if reader.options.instance == nil || reader.options.leavesOnShutDown {
        group.leave(membership.member, counts: counts, now: now)
      } else {
        // The group keeps its place for the session timeout.
        group.silence(membership.member, until: expiry)
      }
    }
  }

  /// Returns a batch for a reader, or the change to wait for. The batch is empty if the reader no longer owns the
  /// partition.
  mutating func read(
    _ partition: TopicPartition, assignment: UInt64, by id: ReaderID, limit: Int
  ) throws(KafkaError) -> Answer<LogPage?> {
    guard let reader = readers[id], reader.assignment == assignment, let position = reader.positions[partition] else {
      return .now(nil)
    }
    let store = try self.partition(partition, "read \(partition)")
    var offset: Int64
    if let position {
      offset = position
    } else {
      guard groups[reader.group]?.isStable(partition) ?? true else { return .after(.group(reader.group)) }
      offset = groups[reader.group]?.committed[partition]?.offset ?? store.start
    }
    // Kafka's clients begin again, without an error, at an offset beyond the end.
    if offset > store.end { offset = store.start }
    let (records, next) = store.read(from: offset, limit: limit)
    readers[id]?.positions[partition] = .some(next)
    // The position moves past transaction markers, which are no records.
    guard !records.isEmpty || next > offset else { return .after(.partition(partition)) }
    return .now(LogPage(records: records, end: next >= store.lastStableOffset ? next : nil))
  }

  // MARK: - Processes

  mutating func pause(_ process: ProcessID, now: Duration) {
    processes[process]?.isPaused = true
    silence(process, now: now)
  }

  mutating func resume(_ process: ProcessID, now: Duration) {
    processes[process]?.isPaused = false
    changes.insert(.process(process))
    for (id, reader) in readersOf(process) {
      changes.insert(.reader(id))
      if reader.hasCompletedWhilePaused { completeRevocation(id, now: now) }
      guard let membership = readers[id]?.membership else {
        // The group removed the member during the pause, and there is nothing to hand over, so the reader joins again.
        if reader.isRunning, !reader.isHandingOver, !reader.isFinished { join(id, now: now) }
        continue
      }
      changeGroup(reader.group, now: now) { group, counts in group.hear(membership.member, counts: counts, now: now) }
    }
  }

  mutating func crash(_ process: ProcessID, now: Duration) {
    processes[process]?.isDead = true
    processes[process]?.isPaused = false
    changes.insert(.process(process))
    silence(process, now: now)
    for (id, reader) in readersOf(process) {
      readers[id]?.isFinished = true
      changes.insert(.reader(id))
      changes.formUnion(reader.positions.keys.map { .partition($0) })
      readers[id]?.positions = [:]
    }
  }

  private mutating func silence(_ process: ProcessID, now: Duration) {
    for (_, reader) in readersOf(process) {
      guard let membership = reader.membership else { continue }
      let expiry = now + (reader.options.sessionTimeout ?? limits.sessionTimeout)
      changeGroup(reader.group, now: now) { group, _ in group.silence(membership.member, until: expiry) }
    }
  }

  private func readersOf(_ process: ProcessID) -> [(ReaderID, ReaderState)] {
    readers.filter { $0.value.process == process }.sorted { $0.key.number < $1.key.number }.map { ($0.key, $0.value) }
  }
}
