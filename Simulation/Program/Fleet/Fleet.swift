// The fleet of one run: the simulated cluster, the topics of a worker, its processes, and the records that arrive.

internal import AppStore
internal import CSimulation
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

@testable internal import PlantedWorker

final class Fleet: @unchecked Sendable {
  /// The worker of the product; nil if the handler of the simulation runs.
  private(set) var workload: (any Workload)?
  /// The topic that a plan can create again.
  var input: String { (workload?.family ?? .subscriptions).topic }

  let plan: Plan
  let timeline: Timeline
  let cluster: Cluster
  private(set) var topics: WorkerTopics
  /// The topics before the move to more lanes, if there was one.
  private(set) var formerTopics: WorkerTopics?
  /// The prefix of the topics that the processes use, and of those that get new notifications.
  private(set) var prefix = ""
  private var postPrefix = ""
  let policy: WorkerPolicy
  let journal = Journal()
  let operators: Operators
  private(set) var machines: [Machine] = []
  private(set) lazy var programs = OperatorPrograms(self)
  private(set) lazy var copies = CopyMachine(self)
  private(set) lazy var laneMove = LaneMove(self)
  /// The ingress; nil if notifications are appended without it.
  private(set) var ingress: IngressMachine?
  /// The notifications on the input topics, in the order of their first copies, with their keys.
  private(set) var accepted: [(id: String, key: String, topic: String)] = []
  /// The notifications that Apple has posted to a worker of the product.
  private var posted: [Int: ProducerRecord] = [:]
  /// When Apple has signed each notification for the handler of the simulation.
  private(set) var signed: [String: Timestamp] = [:]
  private let writer: PartitionWriter
  private var recreations = 0

  init(_ plan: Plan, isTraced: Bool) throws {
    self.plan = plan
    timeline = Timeline(isKept: isTraced)
    cluster = Cluster(network: Network(), timeline: timeline)
    workload = try plan.worker.map { [timeline] in $0.workload(plan, try AppleModel(timeline)) }
    var policy = workload?.policy ?? WorkerPolicy()
    // Apple may fail for as long as the plan says.
    if workload != nil { policy.maximumAttempts = 100_000 }
    policy.retryDelays = [.seconds(2), .seconds(20)]
    // A retry every 20 seconds of a long outage takes too many jobs.
    if plan.hasLongOutage { policy.retryDelays.append(.seconds(1_200)) }
    // Records of a key can wait for an hour (`RetryDelayPassage`), and move to their topic again after each delay.
    if plan.canOverwriteLedger, plan.ordering == .strict { policy.retryDelays = [.seconds(20), .seconds(1_200)] }
    policy.ordering = plan.ordering
    policy.recordsInFlight = 8
    policy.drainTimeout = plan.drain
    self.policy = policy
    topics = WorkerTopics(
      worker: plan.worker?.rawValue ?? "mill",
      inputs: (workload?.families ?? [.subscriptions]).map(\.topic), outputTopics: workload?.outputTopics ?? [],
      delays: policy.retryDelays, prefix: prefix)
    writer = PartitionWriter(cluster)
    operators = try Operators(plan, topics, cluster, journal)
    for topic in topics.laneTopics { cluster.create(topic, partitions: plan.lanes) }
    let tables = (workload?.outputTopics ?? []).union(workload?.tables ?? []).subtracting(topics.inputs)
    for topic in topics.others + tables.sorted() + [CopyMachine.target] { cluster.create(topic, partitions: 1) }
    for record in workload?.prepare(at: MillraceClock.ofSimulation.wallTime) ?? [] { _ = writer.append(record) }
    machines = (0..<plan.processes).map { Machine(self, "w\($0)") }
    if plan.hasIngress, let workload { ingress = try IngressMachine(self, workload.apple) }
    if plan.hasGaps {
      for topic in try GapMachine.topics() where cluster.topics[topic] == nil { cluster.create(topic, partitions: 1) }
    }
    cluster.arrived = { [unowned self] in arrived($0, at: $1) }
  }

  /// Lets Apple post a notification.
  /// - Parameter answered: Takes the notification's id when Apple has the answer 200.
  func accept(_ number: Int, answered: @escaping (String) -> Void) {
    do {
      guard let record = try record(number) else { return }
      let id = Self.header("ce_id", of: record.headers)
      if let ingress {
        let before = recreations
        return ingress.post(record.value ?? [], id: id) { [self] in
          // A topic that was deleted meanwhile may have lost the record.
          if recreations == before { answered(id) }
        }
      }
      _ = writer.append(record)
      answered(id)
    } catch {
      journal.problem("the notification \(number) cannot be posted: \(error)")
    }
  }

  private func arrived(_ record: ConsumerRecord, at offset: Int64) {
    let isPosted = !postPrefix.isEmpty && record.topic.hasPrefix(postPrefix)
    let topic = isPosted ? String(record.topic.dropFirst(postPrefix.count)) : record.topic
    guard (formerTopics ?? topics).inputs.contains(topic) else { return }
    let (id, key) = (Self.header("ce_id", of: record), String(decoding: record.key ?? [], as: UTF8.self))
    timeline.add("record", "\(id) \(key) at \(record.topic)[\(record.partition)] \(offset)")
    if !accepted.contains(where: { $0.id == id }) { accepted.append((id, key, topic)) }
  }

  /// Deletes the input topic and creates it again.
  func recreateInput() {
    timeline.add("fault", "\(input) is deleted and created again")
    recreations += 1
    cluster.recreate(input)
  }

  // MARK: - The move to more lanes

  /// Lets Apple post to the topics with a prefix from now on.
  func direct(to prefix: String) {
    timeline.add("operator", "directs the ingress to the topics \(prefix)*")
    postPrefix = prefix
  }

  /// Lets processes that start from now on use the topics with a prefix.
  func move(to prefix: String) {
    formerTopics = topics
    self.prefix = prefix
    topics = WorkerTopics(
      worker: topics.worker, inputs: topics.inputs.map { prefix + $0 }, delays: policy.retryDelays, prefix: prefix)
  }

  /// The committed records of a topic of the worker, before and after a move. The offsets of the later ones are higher.
  func records(_ topic: (WorkerTopics) -> String) -> [ConsumerRecord] {
    guard let formerTopics else { return cluster.records(in: topic(topics)) }
    return cluster.records(in: topic(formerTopics))
      + cluster.records(in: topic(topics)).map { record in
        var record = record
        record.offset += 1 << 40
        return record
      }
  }

  private func record(_ number: Int) throws -> ProducerRecord? {
    if let workload {
      if let record = posted[number] { return record }
      let records = try workload.post(number, at: MillraceClock.ofSimulation.wallTime)
      for record in records.dropLast() { _ = writer.append(record) }
      posted[number] = records.last
      if plan.hasGaps, let jws = records.last?.value {
        workload.apple.history.add(jws, at: MillraceClock.ofSimulation.wallTime)
      }
      return records.last
    }
    let (id, key) = ("n\(number)", "k\(number % plan.keys)")
    let time = signed[id] ?? MillraceClock.ofSimulation.wallTime
    signed[id] = time
    return ProducerRecord(
      topic: postPrefix + input, key: Array(key.utf8), value: Array(id.utf8),
      headers: [
        RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", id),
        RecordHeader("ce_type", "com.apple.appstore.notification.v2.DID_RENEW"),
        RecordHeader("ce_source", "appstore/Production/com.example.a"), RecordHeader("ce_subject", key),
        RecordHeader("ce_time", time.rfc3339),
      ])
  }

  /// Whether a record of the key may overtake the notification.
  func isDelayed(_ id: String) -> Bool { workload?.isDelayed(id) ?? Work(id)?.isDelayed ?? true }

  /// The sources in which the group has never committed every record.
  var unread: [String] { unread(in: topics.sources) }

  func unread(in sources: [String]) -> [String] {
    let reached = cluster.group(topics.group).reached
    return sources.flatMap { topic in
      (cluster.topics[topic]?.partitions ?? []).compactMap { log in
        guard let last = log.committed.last?.offset else { return nil }
        let next = reached[log.partition] ?? 0
        return next > last ? nil : "\(log.partition) from \(next) to \(last)"
      }
    }
  }

  func logger(_ machine: String) -> Logger {
    guard timeline.isKept else { return Logger(label: "mill") { _ in SwiftLogNoOpLogHandler() } }
    return Logger(label: machine) { TimelineLogHandler(timeline: self.timeline, machine: $0) }
  }

  static func header(_ name: String, of record: ConsumerRecord) -> String { header(name, of: record.headers) }

  static func header(_ name: String, of headers: [RecordHeader]) -> String {
    headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

/// Appends records without a client, for the ingress and for operators.
final class PartitionWriter {
  private let cluster: Cluster

  init(_ cluster: Cluster) { self.cluster = cluster }

  func append(_ record: ProducerRecord) -> String {
    let count = cluster.partitionCount(of: record.topic) ?? 1
    let partition = TopicPartition(
      topic: record.topic, partition: Murmur2.partition(of: record.key ?? [], among: count))
    let time = Int64(simulation_wall_time() / 1_000_000)
    let stored = ConsumerRecord(
      topic: record.topic, partition: partition.partition, offset: 0, timestamp: time, key: record.key,
      value: record.value, headers: record.headers)
    // A producer id of its own for each record: the topic may have been created again.
    let batch = ProducerBatch(producerID: cluster.newProducerID(), epoch: 0, sequence: 0, isTransactional: false)
    do {
      return "\(partition) \(try cluster.produce([stored], to: partition, batch, transactionalID: nil))"
    } catch {
      return "\(partition) \(error)"
    }
  }
}

/// Writes the log messages of processes to the timeline.
private struct TimelineLogHandler: LogHandler {
  let timeline: Timeline
  let machine: String
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = self.metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
    timeline.note(
      "log", "\(machine): \(event.message) \(all.map { "\($0.key)=\($0.value)" }.joined(separator: " "))")
  }
}
