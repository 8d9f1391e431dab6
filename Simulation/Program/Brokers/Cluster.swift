// Three brokers: topics with their partitions, both coordinators, and the nodes that serve them. Acknowledged data
// survives the loss of nodes.

internal import KafkaClient

final class Cluster: @unchecked Sendable {
  struct Topic {
    var partitions: [PartitionLog]
  }

  private struct Node {
    var isUp = true
    /// Counts the node's restarts. Requests of an earlier run get no answer.
    var run = 0
    var downSince = Duration.zero
    var isSuspended = false
    /// The ends that a suspended node knows, of the partitions that it led, and the requests that wait for it.
    var ends: [TopicPartition: Int64] = [:]
    var waiting: [() -> Void] = []
    /// The requests that the node has not answered.
    var connections: [() -> Void] = []
  }

  static let nodeCount = 3
  /// The time after which another node serves the partitions of a dead one.
  private static let failover = Duration.seconds(1)

  let network: Network
  private var nodes = [Node](repeating: Node(), count: Cluster.nodeCount)
  private(set) var topics: [String: Topic] = [:]
  /// Takes each record that is stored outside of a transaction, with its offset.
  var arrived: (ConsumerRecord, Int64) -> Void = { _, _ in }
  private var groups: [String: GroupCoordinator] = [:]
  /// The node that coordinates each group, and its run.
  private var coordinators: [String: [Int]] = [:]
  private var lastProducerID: Int64 = 0
  private(set) lazy var transactions = TransactionCoordinator(self)
  private let timeline: Timeline
  /// The ends that a node knows which answers from its old state now.
  private var oldEnds: [TopicPartition: Int64] = [:]

  init(network: Network, timeline: Timeline) { (self.network, self.timeline) = (network, timeline) }

  func trace(_ kind: String, _ text: @autoclosure () -> String) { timeline.add(kind, text()) }

  /// Adds the end of a request to a trace, except those that are many and say little.
  func note(_ kind: RequestKind, of client: String, _ end: @autoclosure () -> String) {
    guard timeline.isKept, ![.fetch, .heartbeat, .listOffsets].contains(kind) else { return }
    timeline.note("request", "\(kind.rawValue) of \(client): \(end().prefix(120))")
  }

  // MARK: - Topics

  func create(_ topic: String, partitions: Int) {
    topics[topic] = Topic(
      partitions: (0..<Int32(partitions)).map { PartitionLog(TopicPartition(topic: topic, partition: $0)) })
    for name in groups.keys.sorted() { groups[name]?.topicsChanged() }
  }

  /// Deletes a topic and creates it again, empty. Kafka also deletes its committed offsets.
  func recreate(_ topic: String) {
    guard let count = topics[topic]?.partitions.count else { return }
    topics[topic] = Topic(
      partitions: (0..<Int32(count)).map { PartitionLog(TopicPartition(topic: topic, partition: $0)) })
    for group in groups.values { group.forgetOffsets(of: topic) }
  }

  func partitionCount(of topic: String) -> Int? { topics[topic]?.partitions.count }

  func partition(_ partition: TopicPartition) -> PartitionLog? {
    guard let logs = topics[partition.topic]?.partitions, logs.indices.contains(Int(partition.partition)) else {
      return nil
    }
    return logs[Int(partition.partition)]
  }

  func known(_ partition: TopicPartition) throws(BrokerError) -> PartitionLog {
    guard let log = self.partition(partition) else { throw .unknownTopicOrPartition }
    return log
  }

  func group(_ name: String) -> GroupCoordinator {
    if let group = groups[name] { return group }
    let group = GroupCoordinator(self, name)
    groups[name] = group
    coordinators[name] = coordinator(of: name).map { [$0, nodes[$0].run] }
    return group
  }

  func newProducerID() -> Int64 {
    lastProducerID += 1
    return lastProducerID
  }

  /// The committed records of a topic.
  func records(in topic: String) -> [ConsumerRecord] { topics[topic]?.partitions.flatMap(\.committed) ?? [] }

  // MARK: - Requests

  /// - Parameter transactionalID: The id if the batch belongs to a transaction. Its leader asks the coordinator before
  ///   the first record of each.
  func produce(
    _ records: [ConsumerRecord], to partition: TopicPartition, _ batch: ProducerBatch, transactionalID: String?
  ) throws(BrokerError) -> Int64 {
    let log = try known(partition)
    if let transactionalID, !log.hasOpenTransaction(of: batch.producerID) {
      log.asks(about: batch)
      try transactions.verify(transactionalID, batch, partition)
    }
    let end = log.end
    let first = try log.append(records, batch)
    // A batch that was sent again has an earlier offset.
    if first == end, !batch.isTransactional {
      for (index, record) in records.enumerated() { arrived(record, first + Int64(index)) }
    }
    return first
  }

  // MARK: - Nodes

  func leader(of partition: TopicPartition) -> Int? {
    serving(partition.topic.utf8.reduce(Int(partition.partition)) { ($0 &* 31 &+ Int($1)) & 0xFFFF })
  }

  func coordinator(of name: String) -> Int? { serving(name.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xFFFF }) }
  func hasCoordinator(of name: String) -> Bool { coordinator(of: name) != nil }

  /// The node that serves something: its preferred one, or the next that is up.
  private func serving(_ number: Int) -> Int? {
    for index in 0..<nodes.count {
      let node = nodes[(number + index) % nodes.count]
      if node.isUp, !node.isSuspended { return (number + index) % nodes.count }
      if Simulation.worldTime - node.downSince < Self.failover { return nil }
    }
    return nil
  }

  /// Any node that is up, for metadata.
  var anyNode: Int? { nodes.firstIndex { $0.isUp && !$0.isSuspended } }
  var isWhole: Bool { nodes.allSatisfy(\.isUp) }
  func run(of node: Int) -> Int? { nodes[node].isUp ? nodes[node].run : nil }

  /// Calls `body` if the node stops in its current run.
  func whenStopped(_ node: Int, _ run: Int, _ body: @escaping () -> Void) {
    // Most entries belong to requests that have ended; they are dropped now and then.
    if nodes[node].connections.count > 2_000 { nodes[node].connections.removeFirst(1_000) }
    nodes[node].connections.append(body)
  }

  func stop(_ node: Int) {
    guard nodes[node].isUp else { return }
    trace("fault", "node \(node) stops")
    nodes[node].isUp = false
    nodes[node].downSince = Simulation.worldTime
    let broken = nodes[node].connections
    nodes[node].connections = []
    for body in broken { body() }
    moveGroups()
    Simulation.call(in: .world, after: Self.failover) { [self] in moveGroups() }
  }

  /// The node runs no longer, and keeps its connections.
  func suspend(_ node: Int) {
    guard nodes[node].isUp, !nodes[node].isSuspended else { return }
    trace("fault", "node \(node) is suspended")
    nodes[node].isSuspended = true
    nodes[node].downSince = Simulation.worldTime
    nodes[node].ends = Dictionary(
      topics.values.flatMap(\.partitions).filter { leader(of: $0.partition) == node }.map { ($0.partition, $0.end) }
    ) { $1 }
    Simulation.call(in: .world, after: Self.failover) { [self] in moveGroups() }
  }

  /// The node runs again, and first answers what has waited, from its old state.
  func resume(_ node: Int) {
    guard nodes[node].isSuspended else { return }
    trace("fault", "node \(node) resumes")
    nodes[node].isSuspended = false
    let waiting = nodes[node].waiting
    nodes[node].waiting = []
    oldEnds = nodes[node].ends
    for body in waiting { body() }
    oldEnds = [:]
    moveGroups()
  }

  func isSuspended(_ node: Int) -> Bool { nodes[node].isSuspended }

  /// Handles a request once the node runs.
  func whenResumed(_ node: Int, _ body: @escaping () -> Void) {
    if nodes[node].isSuspended { nodes[node].waiting.append(body) } else { body() }
  }

  /// The high watermark that a leader answers. One that was suspended may not know the newest records.
  func highWatermark(of log: PartitionLog) -> Int64 { min(log.end, oldEnds[log.partition] ?? log.end) }

  func start(_ node: Int) {
    guard !nodes[node].isUp else { return }
    trace("fault", "node \(node) starts")
    nodes[node].isUp = true
    nodes[node].run += 1
    moveGroups()
  }

  /// Tells groups that another node, or the same one after a restart, coordinates them now.
  private func moveGroups() {
    for name in groups.keys.sorted() {
      let place = coordinator(of: name).map { [$0, nodes[$0].run] }
      guard let place, place != coordinators[name] else { continue }
      coordinators[name] = place
      groups[name]?.moved()
    }
  }

  func whenAvailable(leaderOf partition: TopicPartition, _ body: @escaping () -> Void) {
    retry({ [self] in leader(of: partition) != nil }, body)
  }

  func whenAvailable(coordinatorOf group: String, _ body: @escaping () -> Void) {
    retry({ [self] in hasCoordinator(of: group) }, body)
  }

  /// Sends a message between brokers until it can be delivered.
  private func retry(_ isPossible: @escaping () -> Bool, _ body: @escaping () -> Void) {
    Simulation.call(in: .world, after: network.brokerDelay()) { [self] in
      if isPossible() { body() } else { retry(isPossible, body) }
    }
  }
}
