// One consumer group at its coordinator, with the eager protocol and the range assignor. JoinGroup and SyncGroup are one
// request: the answer to a join is the member's assignment.

internal import KafkaClient

/// The identity with which a member sends its requests.
struct MemberIdentity: Hashable, Sendable {
  var member = ""
  var generation = -1
  var instance: String?

  /// Whether the client has never joined the group.
  var isNoMember: Bool { member.isEmpty && generation < 0 && instance == nil }
}

final class GroupCoordinator {
  struct Joined: Sendable {
    var member: String
    var generation: Int
    var assignment: [TopicPartition]
  }

  typealias JoinAnswer = (Result<Joined, BrokerError>) -> Void

  private struct Member {
    var topics: [String]
    var instance: String?
    var session: Duration
    var deadline: Duration
    var assignment: [TopicPartition] = []
    /// The answer to the member's JoinGroup, while it waits for the other members.
    var join: JoinAnswer?
  }

  private unowned let cluster: Cluster
  let name: String
  private var members: [String: Member] = [:]
  private(set) var generation = 0
  /// The time at which members that have not joined again are removed; nil if there is no rebalance.
  private var rebalanceEnd: Duration?
  private(set) var committed: [TopicPartition: CommittedOffset] = [:]
  /// The highest offset that was committed. An OffsetCommit that arrives late can set a committed offset back.
  private(set) var reached: [TopicPartition: Int64] = [:]
  private var pending: [Int64: [(offset: CommittedOffset, order: Int)]] = [:]
  /// The number of the write that has set each committed offset. A transaction does not undo a later write when it ends.
  private var orders: [TopicPartition: Int] = [:]
  private var lastOrder = 0
  private var epochs: [Int64: Int] = [:]
  private var lastMember = 0

  /// `max.poll.interval.ms`: how long the group waits for a member to join again.
  private static let rebalanceTimeout = Duration.seconds(300)

  init(_ cluster: Cluster, _ name: String) { (self.cluster, self.name) = (cluster, name) }

  var memberList: [KafkaClient.GroupMember] {
    members.sorted { $0.key < $1.key }.map {
      KafkaClient.GroupMember(id: $0.key, instance: $0.value.instance, host: "simulated")
    }
  }

  /// The members with their partitions, for the trace.
  var assignments: [String: [TopicPartition]] { members.mapValues(\.assignment) }

  // MARK: - Members

  func join(
    _ identity: MemberIdentity, topics: [String], session: Duration, _ answer: @escaping JoinAnswer
  ) {
    if let problem = objection(to: identity, isJoin: true) { return answer(.failure(problem)) }
    let now = Simulation.worldTime
    var member = Member(topics: topics, instance: identity.instance, session: session, deadline: now + session)
    var id = identity.member
    if id.isEmpty {
      lastMember += 1
      id = "member-\(lastMember)"
      if let instance = identity.instance, let (old, former) = members.first(where: { $0.value.instance == instance }) {
        cluster.trace("group", "\(id) takes the name \(instance) from \(old)")
        members[old] = nil
        former.join?(.failure(.fencedInstance))
        // A static member that returns gets its partitions back without a rebalance.
        if rebalanceEnd == nil, former.topics == topics {
          member.assignment = former.assignment
          members[id] = member
          watch(id)
          return answer(.success(Joined(member: id, generation: generation, assignment: former.assignment)))
        }
      }
    }
    members[id]?.join?(.failure(.unknownMember))
    member.join = answer
    members[id] = member
    watch(id)
    rebalance()
  }

  func heartbeat(_ identity: MemberIdentity) throws(BrokerError) {
    if let problem = objection(to: identity) { throw problem }
    if let member = members[identity.member] {
      members[identity.member]?.deadline = Simulation.worldTime + member.session
    }
    if rebalanceEnd != nil { throw .rebalanceInProgress }
  }

  func leave(_ identity: MemberIdentity) {
    guard let member = members.removeValue(forKey: identity.member) else { return }
    member.join?(.failure(.unknownMember))
    cluster.trace("group", "\(identity.member) leaves")
    rebalance()
  }

  /// The group has another coordinator: every session starts anew, and joins have to be sent again.
  func moved() {
    for id in members.keys.sorted() {
      guard let member = members[id] else { continue }
      members[id]?.deadline = Simulation.worldTime + member.session
      members[id]?.join = nil
    }
  }

  /// A topic was created or deleted.
  func topicsChanged() { if !members.isEmpty { rebalance() } }

  private func objection(to identity: MemberIdentity, isJoin: Bool = false) -> BrokerError? {
    if let instance = identity.instance, let holder = members.first(where: { $0.value.instance == instance })?.key,
      holder != identity.member, !(isJoin && identity.member.isEmpty)
    {
      return .fencedInstance
    }
    if isJoin, identity.member.isEmpty { return nil }
    guard members[identity.member] != nil else { return .unknownMember }
    return isJoin || identity.generation == generation ? nil : .illegalGeneration
  }

  /// Removes the member when its session ends.
  private func watch(_ id: String) {
    guard let member = members[id] else { return }
    Simulation.call(in: .world, after: member.deadline - Simulation.worldTime) { [weak self] in
      guard let self, let member = members[id] else { return }
      // A member that waits in a join needs no heartbeats. A coordinator that is away removes no one.
      guard member.join == nil, member.deadline <= Simulation.worldTime, cluster.hasCoordinator(of: name) else {
        if member.deadline <= Simulation.worldTime {
          members[id]?.deadline = Simulation.worldTime + member.session
        }
        return watch(id)
      }
      cluster.trace("group", "the session of \(id) ends")
      members[id] = nil
      rebalance()
    }
  }

  private func rebalance() {
    if rebalanceEnd == nil {
      let end = Simulation.worldTime + Self.rebalanceTimeout
      rebalanceEnd = end
      Simulation.call(in: .world, after: Self.rebalanceTimeout) { [weak self] in
        guard let self, rebalanceEnd == end else { return }
        for id in members.keys.sorted() where members[id]?.join == nil { members[id] = nil }
        finishRebalance()
      }
    }
    finishRebalance()
  }

  private func finishRebalance() {
    guard members.values.allSatisfy({ $0.join != nil }) else { return }
    rebalanceEnd = nil
    generation += 1
    let assignment = assignments(of: members.mapValues(\.topics))
    for id in members.keys.sorted() {
      let answer = members[id]?.join
      members[id]?.join = nil
      members[id]?.assignment = assignment[id] ?? []
      if let member = members[id] { members[id]?.deadline = Simulation.worldTime + member.session }
      cluster.trace("group", "generation \(generation): \(id) \(Self.lanes(assignment[id] ?? []))")
      answer?(.success(Joined(member: id, generation: generation, assignment: assignment[id] ?? [])))
    }
  }

  private func assignments(of subscriptions: [String: [String]]) -> [String: [TopicPartition]] {
    var assignment = subscriptions.mapValues { _ in [TopicPartition]() }
    // The range assignor sorts static members by their names.
    let order = subscriptions.keys.sorted { (members[$0]?.instance ?? $0, $0) < (members[$1]?.instance ?? $1, $1) }
    for topic in Set(subscriptions.values.joined()).sorted() {
      guard let count = cluster.partitionCount(of: topic) else { continue }
      let owners = order.filter { subscriptions[$0]?.contains(topic) ?? false }
      let (each, rest) = count.quotientAndRemainder(dividingBy: owners.count)
      var next = 0
      for (index, owner) in owners.enumerated() {
        let share = each + (index < rest ? 1 : 0)
        assignment[owner, default: []] += (next..<next + share).map {
          TopicPartition(topic: topic, partition: Int32($0))
        }
        next += share
      }
    }
    return assignment
  }

  private static func lanes(_ partitions: [TopicPartition]) -> String {
    "lanes \(Set(partitions.map(\.partition)).sorted())"
  }

  // MARK: - Offsets

  func commit(_ offsets: [CommittedOffset], by identity: MemberIdentity) throws(BrokerError) {
    if !identity.isNoMember || !members.isEmpty, let problem = objection(to: identity) { throw problem }
    lastOrder += 1
    for offset in offsets { set(offset, lastOrder) }
  }

  private func set(_ offset: CommittedOffset, _ order: Int) {
    guard order > orders[offset.partition] ?? 0 else { return }
    (committed[offset.partition], orders[offset.partition]) = (offset, order)
    reached[offset.partition] = max(reached[offset.partition] ?? 0, offset.offset)
  }

  func add(
    _ offsets: [CommittedOffset], by identity: MemberIdentity, _ producerID: Int64, epoch: Int
  ) throws(BrokerError) {
    guard epoch >= epochs[producerID] ?? 0 else { throw .invalidProducerEpoch }
    // A client that has not joined can commit in a transaction, also while the group has members (`GroupMetadata`).
    if !identity.isNoMember, let problem = objection(to: identity) { throw problem }
    epochs[producerID] = epoch
    lastOrder += 1
    pending[producerID, default: []] += offsets.map { ($0, lastOrder) }
  }

  func end(_ producerID: Int64, epoch: Int, isCommit: Bool) {
    guard epoch >= epochs[producerID] ?? 0 else { return }
    epochs[producerID] = epoch
    guard let offsets = pending.removeValue(forKey: producerID), isCommit else { return }
    for (offset, order) in offsets { set(offset, order) }
  }

  func offsets(of partitions: [TopicPartition]) throws(BrokerError) -> [CommittedOffset] {
    guard !pending.values.joined().contains(where: { partitions.contains($0.offset.partition) }) else {
      throw .unstableOffsetCommit
    }
    return partitions.compactMap { committed[$0] }
  }

  func forgetOffsets(of topic: String) {
    committed = committed.filter { $0.key.topic != topic }
    reached = reached.filter { $0.key.topic != topic }
  }

  /// Sets offsets without metadata, as an operator does while the group has no members.
  func reset(_ partition: TopicPartition, to offset: Int64) {
    lastOrder += 1
    reached[partition] = nil
    set(CommittedOffset(partition, offset: offset), lastOrder)
  }
}
