// Decides when a lane starts and stops, and which completions still count.

internal import KafkaClient

/// The lanes of one worker process as partitions are assigned and revoked.
///
/// A lane starts when the process owns partition p of every topic, because then it alone decides about the lane's keys.
/// The lane stops when the process loses any of them. Each start is a new epoch; completions of an older epoch do not
/// count.
struct LaneOwnership: Sendable {
  /// The actions to perform, in this order.
  enum Action: Sendable, Hashable {
    /// Read the committed offsets, restore the ledger, then report ``LaneOwnership/restored(_:)``.
    case start(LaneEpoch)
    /// Stop taking records, finish or hand back those in flight, commit, then report ``LaneOwnership/ended(_:)``. The
    /// revocation is answered after that.
    case drain(LaneEpoch)
    /// Stop at once and commit nothing, because another process may own the lane already.
    case drop(LaneEpoch)
  }

  /// The phase of a lane.
  enum Phase: Sendable, Hashable {
    /// The lane restores its ledger.
    case restoring
    /// The lane takes records.
    case running
    /// The lane takes no more records and commits its decisions.
    case draining
  }

  private struct Lane: Sendable {
    var topics: Set<String> = []
    var epoch: UInt64 = 0
    var phase: Phase?
  }

  private let topics: Set<String>
  private var lanes: [Int32: Lane] = [:]
  private var lastEpoch: UInt64 = 0
  private var hasJoined = false
  /// Whether the last assignment still holds. In between, the lanes may have no owner.
  private var isAssigned = false

  /// - Parameter topics: All topics that the worker reads as a member of its group.
  init(topics: some Sequence<String>) { self.topics = Set(topics) }

  /// Partitions were assigned. An empty assignment also counts as having joined.
  mutating func assign(_ partitions: some Sequence<TopicPartition>) -> [Action] {
    hasJoined = true
    isAssigned = true
    var touched: Set<Int32> = []
    for partition in partitions where topics.contains(partition.topic) {
      lanes[partition.partition, default: Lane()].topics.insert(partition.topic)
      touched.insert(partition.partition)
    }
    return touched.sorted().compactMap { startIfWhole($0) }
  }

  /// Partitions were revoked. They are given back once their lanes have ended.
  mutating func revoke(_ partitions: some Sequence<TopicPartition>) -> [Action] {
    take(partitions).compactMap { stop($0) }
  }

  /// Partitions were lost: the group has continued without this member.
  mutating func lose(_ partitions: some Sequence<TopicPartition>) -> [Action] {
    take(partitions).compactMap { drop($0) }
  }

  /// The ledger of a lane is restored.
  /// - Returns: Whether the lane runs now; false if its epoch is over.
  mutating func restored(_ epoch: LaneEpoch) -> Bool {
    guard phase(of: epoch) == .restoring else { return false }
    lanes[epoch.lane]?.phase = .running
    return true
  }

  /// A draining lane has finished its last commit. Restarts the lane if it was assigned again meanwhile.
  mutating func ended(_ epoch: LaneEpoch) -> [Action] {
    guard phase(of: epoch) == .draining else { return [] }
    end(epoch.lane)
    return startIfWhole(epoch.lane).map { [$0] } ?? []
  }

  /// Returns the phase of an epoch; nil if the epoch is over.
  func phase(of epoch: LaneEpoch) -> Phase? {
    #if PLANTED_FAULTS
      if let lane = lanes[epoch.lane], PlantedFault.epochUnchecked.isActive(changing: lane.epoch != epoch.epoch) {
        return lane.phase
      }
    #endif
    guard let lane = lanes[epoch.lane], lane.epoch == epoch.epoch else { return nil }
    return lane.phase
  }

  /// Lanes that drain. A revocation is answered when there are none.
  var draining: [LaneEpoch] { epochs { $0 == .draining } }
  /// Lanes that run.
  var running: [LaneEpoch] { epochs { $0 == .running } }

  /// Whether the process has joined and every lane that it owns a partition of is running. A process without lanes is
  /// ready.
  var isReady: Bool { hasJoined && lanes.values.allSatisfy { $0.phase == .running } }

  /// Whether the lanes that run are the ones that the group has given this process. Before the next assignment a process
  /// without lanes is ready, but knows nothing about its worker.
  var isSettled: Bool { isReady && isAssigned }

  /// The topics that this process does not own a partition of, by lane, for lanes that it owns a part of. A group whose
  /// members all read the same topics has no such lane.
  var missing: [Int32: Set<String>] {
    lanes.mapValues { topics.subtracting($0.topics) }.filter { !$0.value.isEmpty && $0.value != topics }
  }

  private func epochs(where isWanted: (Phase?) -> Bool) -> [LaneEpoch] {
    lanes.keys.filter { isWanted(lanes[$0]?.phase) }.compactMap { epoch(of: $0) }.sorted()
  }

  private func epoch(of number: Int32) -> LaneEpoch? {
    lanes[number].map { LaneEpoch(lane: number, epoch: $0.epoch) }
  }

  private mutating func startIfWhole(_ number: Int32) -> Action? {
    guard let lane = lanes[number], lane.phase == nil, lane.topics == topics else { return nil }
    lastEpoch += 1
    lanes[number]?.epoch = lastEpoch
    lanes[number]?.phase = .restoring
    return .start(LaneEpoch(lane: number, epoch: lastEpoch))
  }

  /// Removes ownership of the partitions. Returns the affected lanes, sorted.
  private mutating func take(_ partitions: some Sequence<TopicPartition>) -> [Int32] {
    isAssigned = false
    var touched: Set<Int32> = []
    for partition in partitions where lanes[partition.partition]?.topics.remove(partition.topic) != nil {
      touched.insert(partition.partition)
    }
    for number in touched where lanes[number]?.topics.isEmpty == true && lanes[number]?.phase == nil {
      lanes[number] = nil
    }
    return touched.sorted()
  }

  private mutating func stop(_ number: Int32) -> Action? {
    switch lanes[number]?.phase {
    case .running:
      lanes[number]?.phase = .draining
      return epoch(of: number).map { .drain($0) }
    // The lane has taken no records, so there is nothing to finish.
    case .restoring: return drop(number)
    case .draining, nil: return nil
    }
  }

  private mutating func drop(_ number: Int32) -> Action? {
    guard let epoch = epoch(of: number), lanes[number]?.phase != nil else { return nil }
    end(number)
    return .drop(epoch)
  }

  private mutating func end(_ number: Int32) {
    lanes[number]?.phase = nil
    if lanes[number]?.topics.isEmpty == true { lanes[number] = nil }
  }
}
