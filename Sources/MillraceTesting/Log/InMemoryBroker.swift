// The in-memory log as a value: topics, groups, transactions, and the effect of each request on them. It does no I/O
// and has no clock; time is a parameter.

internal import KafkaClient
internal import MillraceRecords

/// A process in the test. Pausing and crashing affect all its clients.
struct ProcessID: Sendable, Hashable {
  var name: String
  /// Distinguishes a restarted process from the one that crashed.
  var incarnation: Int
}

/// The change that a waiting call waits for.
enum LogChange: Sendable, Hashable {
  case partition(TopicPartition)
  case group(String)
  case reader(ReaderID)
  case process(ProcessID)
}

struct ReaderID: Sendable, Hashable {
  var number: Int
}

struct InMemoryBroker: Sendable {
  struct Process: Sendable {
    var isPaused = false
    var isDead = false
  }

  struct Limits: Sendable {
    var sessionTimeout: Duration
    var rebalanceTimeout: Duration
    var maximumRecordBytes: Int
  }

  let limits: Limits
  var topics: [String: [PartitionStore]] = [:]
  var groups: [String: GroupState] = [:]
  var readers: [ReaderID: ReaderState] = [:]
  var producers: [String: TransactionalProducer] = [:]
  var processes: [ProcessID: Process] = [:]
  var incarnations: [String: Int] = [:]
  var faults: [LogFault] = []
  var latency = Duration.zero
  /// The number of requests that wait for the latency.
  var delayedRequests = 0
  /// Changes since the caller last looked.
  var changes: Set<LogChange> = []
  /// Whether deadlines may have changed since the caller last looked.
  var areDeadlinesStale = false

  private var serial: UInt64 = 0
  private var turn: [String: Int] = [:]

  init(limits: Limits) { self.limits = limits }

  mutating func nextSerial() -> UInt64 {
    serial += 1
    return serial
  }

  // MARK: - Topics

  var counts: [String: Int] { topics.mapValues(\.count) }

  mutating func createTopic(_ name: String, partitions: Int, now: Duration) {
    topics[name] = Array(repeating: PartitionStore(), count: partitions)
    for group in groups.keys.sorted() {
      changeGroup(group, now: now) { group, counts in group.noticeTopic(name, counts: counts, now: now) }
    }
  }

  mutating func recreateTopic(_ name: String, forgettingOffsets: Bool) {
    guard let count = topics[name]?.count else { return }
    topics[name] = Array(repeating: PartitionStore(), count: count)
    changes.formUnion((0..<Int32(clamping: count)).map { .partition(TopicPartition(topic: name, partition: $0)) })
    guard forgettingOffsets else { return }
    for group in groups.keys { groups[group]?.forgetOffsets(ofTopic: name) }
  }

  func partition(_ partition: TopicPartition, _ operation: String) throws(KafkaError) -> PartitionStore {
    guard let stores = topics[partition.topic], stores.indices.contains(Int(partition.partition)) else {
      throw .unknown("\(partition)", operation)
    }
    return stores[Int(partition.partition)]
  }

  mutating func withPartition<Value>(
    _ partition: TopicPartition, _ operation: String, _ body: (inout PartitionStore) -> Value
  ) throws(KafkaError) -> Value {
    var store = try self.partition(partition, operation)
    // Removed while it changes, so that its array is not copied for each record.
    topics[partition.topic]?[Int(partition.partition)] = PartitionStore()
    defer { topics[partition.topic]?[Int(partition.partition)] = store }
    changes.insert(.partition(partition))
    return body(&store)
  }

  /// Returns the partition of a record. Records without a key are distributed in turn.
  mutating func place(_ record: ProducerRecord) throws(KafkaError) -> TopicPartition {
    let operation = "send to \(record.topic)"
    guard let count = topics[record.topic]?.count, count > 0 else { throw .unknown(record.topic, operation) }
    if let partition = record.partition {
      guard (0..<count).contains(Int(partition)) else {
        throw .unknown("\(record.topic)[\(partition)]", operation)
      }
      return TopicPartition(topic: record.topic, partition: partition)
    }
    if let key = record.key {
      return TopicPartition(topic: record.topic, partition: Murmur2.partition(of: key, among: count))
    }
    let next = turn[record.topic, default: 0]
    turn[record.topic] = next + 1
    return TopicPartition(topic: record.topic, partition: Int32(clamping: next % count))
  }

  /// Appends a record.
  /// - Parameter time: The wall clock's time, used if the record has no timestamp.
  mutating func append(
    _ record: ProducerRecord, to partition: TopicPartition, in transaction: TransactionSerial?, time: Int64
  ) throws(KafkaError) -> RecordPosition {
    let operation = "send to \(record.topic)"
    let size = (record.key?.count ?? 0) + (record.value?.count ?? 0)
    guard size <= limits.maximumRecordBytes else {
      throw KafkaError(
        code: .messageTooLarge, operation: operation,
        reason: "the record has \(size) bytes, the limit is \(limits.maximumRecordBytes)")
    }
    let stored = ConsumerRecord(
      topic: partition.topic, partition: partition.partition, offset: 0, timestamp: record.timestamp ?? time,
      key: record.key, value: record.value, headers: record.headers)
    let offset = try withPartition(partition, operation) { $0.append(stored, in: transaction) }
    return RecordPosition(topic: partition.topic, partition: partition.partition, offset: offset)
  }

  // MARK: - Time

  /// Applies all deadlines that have passed.
  mutating func expire(now: Duration) {
    for name in groups.keys.sorted() {
      guard let deadline = groups[name]?.nextDeadline, deadline <= now else { continue }
      changeGroup(name, now: now) { group, counts in group.expire(counts: counts, now: now) }
    }
    for id in producers.keys.sorted() {
      guard let deadline = producers[id]?.open?.deadline, deadline <= now else { continue }
      end(transactionOf: id, isCommitted: false)
      // Kafka's coordinator does the same, so that the producer learns that its transaction is gone.
      producers[id]?.epoch += 1
    }
  }

  var nextDeadline: Duration? {
    (groups.values.compactMap(\.nextDeadline) + producers.values.compactMap { $0.open?.deadline }).min()
  }

  // MARK: - Processes and faults

  mutating func startProcess(_ name: String) -> ProcessID {
    if let incarnation = incarnations[name] {
      let id = ProcessID(name: name, incarnation: incarnation)
      if processes[id]?.isDead == false { return id }
    }
    let id = ProcessID(name: name, incarnation: incarnations[name, default: 0] + 1)
    incarnations[name] = id.incarnation
    processes[id] = Process()
    return id
  }

  /// Returns and removes the next fault for this call.
  mutating func takeFault(_ operation: LogOperation, topic: String?, of process: ProcessID) -> LogFault? {
    let match = faults.firstIndex {
      $0.operation == operation && $0.process == process && ($0.topic == nil || $0.topic == topic)
    }
    return match.map { faults.remove(at: $0) }
  }
}
