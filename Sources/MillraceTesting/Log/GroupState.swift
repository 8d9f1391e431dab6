// A consumer group as its coordinator keeps it: members, generations, offsets. Eager rebalances, as the range assignor
// has them: everything is revoked, then everything is assigned.

internal import Kafka

/// What a group's change means for one member.
enum MemberEvent: Sendable, Hashable {
  case assigned([TopicPartition])
  case revoked([TopicPartition])
}

struct GroupState: Sendable {
  struct Member: Sendable {
    enum State: Sendable, Hashable {
      /// Waits for the next generation.
      case joined
      /// Hands over what it had.
      case revoking
      /// Works.
      case stable
    }

    var topics: Set<String>
    var instance: String?
    var state: State
    var assignment: [TopicPartition] = []
    /// When its silence ends its membership; nil while it is heard.
    var expiry: Duration?
  }

  private(set) var generation: Int32 = 0
  private(set) var members: [String: Member] = [:]
  /// When members that have not rejoined are given up; nil while nothing is rebalanced.
  private(set) var rebalanceDeadline: Duration?
  private(set) var committed: [TopicPartition: CommittedOffset] = [:]
  /// Offsets of open transactions.
  private var pending: [TransactionSerial: [CommittedOffset]] = [:]
  private let rebalanceTimeout: Duration

  /// What members have to be told, in order. The caller takes it after each change.
  var outbox: [(member: String, event: MemberEvent)] = []
  /// Members that were given up since the caller looked last.
  var expelled: [String] = []
  /// Static members whose place another has taken since.
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
      // The group does not even notice that a static member came back as it was.
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

  /// The member has handed over what was revoked and waits for the next generation.
  /// - Returns: false where the group has given it up meanwhile.
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

  /// Nothing is heard of the member from now on; it is given up at `expiry`.
  mutating func silence(_ id: String, until expiry: Duration) { members[id]?.expiry = expiry }

  /// The member is heard again.
  mutating func hear(_ id: String, counts: [String: Int], now: Duration) {
    members[id]?.expiry = nil
    // It learns only now that the others are waiting for it.
    if rebalanceDeadline != nil { rebalance(counts: counts, now: now) }
  }

  /// A topic came into being.
  mutating func noticeTopic(_ topic: String, counts: [String: Int], now: Duration) {
    if members.values.contains(where: { $0.topics.contains(topic) }) { rebalance(counts: counts, now: now) }
  }

  /// Gives up members whose time is over.
  mutating func expire(counts: [String: Int], now: Duration) {
    let silent = members.filter { $0.value.expiry.map { $0 <= now } ?? false }.keys.sorted()
    giveUp(silent)
    if !silent.isEmpty { rebalance(counts: counts, now: now) }
    guard let deadline = rebalanceDeadline, deadline <= now else { return }
    giveUp(members.filter { $0.value.state != .joined }.keys.sorted())
    finishRebalance(counts: counts)
  }

  /// The next moment at which ``expire(counts:now:)`` has something to do.
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
        // One that is not heard does not rejoin either.
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

  /// Why the group takes no offsets of this member, as of this generation; nil where it takes them.
  func objection(to id: String, generation: Int32, _ operation: String) -> KafkaError? {
    guard members[id] != nil else {
      return KafkaError(code: .unknownMember, operation: operation, reason: "the group has given the member up")
    }
    guard generation == self.generation else {
      return KafkaError(
        code: .illegalGeneration, operation: operation,
        reason: "generation \(generation) has passed; the group is at \(self.generation)")
    }
    return nil
  }

  mutating func commit(_ offsets: [CommittedOffset]) {
    for offset in offsets { committed[offset.partition] = offset.admitted }
  }

  mutating func add(_ offsets: [CommittedOffset], to transaction: TransactionSerial) {
    pending[transaction, default: []] += offsets
  }

  mutating func end(_ transaction: TransactionSerial, isCommitted: Bool) {
    guard let offsets = pending.removeValue(forKey: transaction), isCommitted else { return }
    commit(offsets)
  }

  /// Whether no open transaction is about to change the partition's offset.
  func isStable(_ partition: TopicPartition) -> Bool {
    !pending.values.contains { $0.contains { $0.partition == partition } }
  }
}

extension CommittedOffset {
  /// Without metadata that a broker would not keep.
  fileprivate var admitted: CommittedOffset {
    guard metadata.utf8.count > Self.maximumMetadataBytes else { return self }
    return CommittedOffset(partition, offset: offset)
  }
}
