// The state of a consumer group, as Kafka's group coordinator keeps it: members, generations and offsets. Rebalances
// are eager, as with the range assignor: all partitions are revoked, then all are assigned.

internal import KafkaClient

/// The consequence of a group change for one member.
enum MemberEvent: Sendable, Hashable {
  case assigned([TopicPartition])
  case revoked([TopicPartition])
}

struct GroupState: Sendable {
  struct Member: Sendable {
    enum State: Sendable, Hashable {
      /// The member waits for the next generation.
      case joined
      /// The member hands over its partitions.
      case revoking
      /// The member reads its partitions.
      case stable
    }

    var topics: Set<String>
    var instance: String?
    var state: State
    var assignment: [TopicPartition] = []
    /// The time at which the group removes a silent member; nil if the member is not silent.
    var expiry: Duration?
  }

  private(set) var generation: Int32 = 0
  private(set) var members: [String: Member] = [:]
  /// The time at which members that have not rejoined are removed; nil if there is no rebalance.
  private(set) var rebalanceDeadline: Duration?
  private(set) var committed: [TopicPartition: CommittedOffset] = [:]
  /// Offsets in open transactions.
  private var pending: [TransactionSerial: [CommittedOffset]] = [:]
  private let rebalanceTimeout: Duration

  /// Events for members, in order. The caller takes them after each change.
  var outbox: [(member: String, event: MemberEvent)] = []
  /// Members removed since the caller last looked.
  var expelled: [String] = []
  /// Static members that another client has replaced since the caller last looked.
  var replaced: [String] = []

  init(rebalanceTimeout: Duration) { self.rebalanceTimeout = rebalanceTimeout }

  // MARK: - Members

  mutating func join(
    _ id: String, topics: Set<String>, instance: String?, counts: [String: Int], now: Duration
  ) {
    if let instance, let (old, member) = members.first(where: { $0.value.instance == instance }) {
      members[old] = nil
      replaced.append(old)
      members[id] = Member(topics: topics, instance: instance, state: .joined)
      // A static member that returns with the same topics causes no rebalance.
      if rebalanceDeadline == nil, member.topics == topics {
        members[id]?.state = .stable
        members[id]?.assignment = member.assignment
        outbox.append((id, .assigned(member.assignment)))
        return
      }
    }
    members[id] = Member(topics: topics, instance: instance, state: .joined)
    rebalance(counts: counts, now: now)
  }

  /// The member has handed over its partitions and waits for the next generation.
  /// - Returns: False if the group has removed the member meanwhile.
  mutating func rejoin(_ id: String, counts: [String: Int], now: Duration) -> Bool {
    guard members[id] != nil else { return false }
    members[id]?.state = .joined
    members[id]?.assignment = []
    rebalance(counts: counts, now: now)
    return true
  }

  mutating func leave(_ id: String, counts: [String: Int], now: Duration) {
    guard members.removeValue(forKey: id) != nil else { return }
    rebalance(counts: counts, now: now)
  }

  /// The member is silent from now on. The group removes it at `expiry`.
  mutating func silence(_ id: String, until expiry: Duration) { members[id]?.expiry = expiry }

  /// The member sends requests again.
  mutating func hear(_ id: String, counts: [String: Int], now: Duration) {
    members[id]?.expiry = nil
    // Only now does it learn that the group is rebalancing.
    if rebalanceDeadline != nil { rebalance(counts: counts, now: now) }
  }

  /// A topic was created.
  mutating func noticeTopic(_ topic: String, counts: [String: Int], now: Duration) {
    if members.values.contains(where: { $0.topics.contains(topic) }) { rebalance(counts: counts, now: now) }
  }

  /// Removes members whose time has run out.
  mutating func expire(counts: [String: Int], now: Duration) {
    let silent = members.filter { $0.value.expiry.map { $0 <= now } ?? false }.keys.sorted()
    giveUp(silent)
    if !silent.isEmpty { rebalance(counts: counts, now: now) }
    guard let deadline = rebalanceDeadline, deadline <= now else { return }
    giveUp(members.filter { $0.value.state != .joined }.keys.sorted())
    finishRebalance(counts: counts)
  }

  /// The next time at which ``expire(counts:now:)`` has something to do.
  var nextDeadline: Duration? {
    (members.values.compactMap(\.expiry) + [rebalanceDeadline].compactMap { $0 }).min()
  }

  private mutating func giveUp(_ ids: [String]) {
    for id in ids { members[id] = nil }
    expelled += ids
  }

  private mutating func rebalance(counts: [String: Int], now: Duration) {
    if rebalanceDeadline == nil { rebalanceDeadline = now + rebalanceTimeout }
    for (id, member) in members.sorted(by: { $0.key < $1.key }) where member.state == .stable {
      if member.assignment.isEmpty {
        // A silent member does not rejoin.
        if member.expiry == nil { members[id]?.state = .joined }
      } else {
        members[id]?.state = .revoking
        outbox.append((id, .revoked(member.assignment)))
      }
    }
    finishRebalance(counts: counts)
  }

  private mutating func finishRebalance(counts: [String: Int]) {
    guard members.values.allSatisfy({ $0.state == .joined }) else { return }
    rebalanceDeadline = nil
    generation += 1
    let names = members.map { (key: $0.key, value: $0.value.topics) }
    let assignment = RangeAssignor.assign(Dictionary(names) { first, _ in first }, counts: counts)
    for id in members.keys.sorted() {
      members[id]?.state = .stable
      members[id]?.assignment = assignment[id] ?? []
      outbox.append((id, .assigned(assignment[id] ?? [])))
    }
  }

  // MARK: - Offsets

  /// Returns the error with which the group rejects offsets of this member and generation; nil if it accepts them.
  func objection(to id: String, generation: Int32, _ operation: String) -> KafkaError? {
    guard members[id] != nil else {
      return KafkaError(code: .unknownMember, operation: operation, reason: "the group has removed the member")
    }
    guard generation == self.generation else {
      return KafkaError(
        code: .illegalGeneration, operation: operation,
        reason: "generation \(generation) is not the group's current generation \(self.generation)")
    }
    return nil
  }

  mutating func commit(_ offsets: [CommittedOffset]) {
    for offset in offsets { committed[offset.partition] = offset.admitted }
  }

  /// Forgets all committed offsets, as brokers do some time after the last member has left.
  mutating func expireOffsets() { committed = [:] }

  /// Forgets the committed offsets of a topic, as brokers do when it is deleted.
  mutating func forgetOffsets(ofTopic topic: String) { committed = committed.filter { $0.key.topic != topic } }

  mutating func add(_ offsets: [CommittedOffset], to transaction: TransactionSerial) {
    pending[transaction, default: []] += offsets
  }

  mutating func end(_ transaction: TransactionSerial, isCommitted: Bool) {
    guard let offsets = pending.removeValue(forKey: transaction), isCommitted else { return }
    commit(offsets)
  }

  /// Whether no open transaction may change the partition's offset.
  func isStable(_ partition: TopicPartition) -> Bool {
    !pending.values.contains { $0.contains { $0.partition == partition } }
  }
}

extension CommittedOffset {
  /// The offset without metadata that a broker would not store.
  fileprivate var admitted: CommittedOffset {
    guard metadata.utf8.count > Self.maximumMetadataBytes else { return self }
    return CommittedOffset(partition, offset: offset)
  }
}
